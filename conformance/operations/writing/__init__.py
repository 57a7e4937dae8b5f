"""Tables that are written by scripts."""
