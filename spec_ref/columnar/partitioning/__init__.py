"""Partition transforms of Arrow arrays, and rows by partition (Partitioning)."""
