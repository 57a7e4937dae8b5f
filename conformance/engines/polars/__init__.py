"""All about Polars."""
