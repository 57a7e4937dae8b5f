"""Sorting Arrow batches (Sorting)."""
