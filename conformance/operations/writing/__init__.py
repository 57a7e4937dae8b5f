"""Writing tables by scripts."""
