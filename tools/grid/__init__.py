"""The grid of corruptions: each stored field of a table with each change, and the findings of `validate`."""
