"""Scripts that fit the weights in the code. They run from a checkout and are no part of the wheel."""
