"""Partition specs and transforms (Partitioning)."""
