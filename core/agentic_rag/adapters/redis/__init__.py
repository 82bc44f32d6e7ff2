"""Redis: the hand-over of job ids, and cached answers. Losing all of it loses nothing."""
