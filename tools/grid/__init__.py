"""The grid of corruptions: each stored field of a table changed in each way, and what `validate` finds of it."""
