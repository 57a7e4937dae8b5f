"""Theta sketches, and partition statistics files (Table Statistics; Partition Statistics)."""
