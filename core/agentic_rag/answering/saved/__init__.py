"""Questions that are asked again after each publish, and tell when their answer changed."""
