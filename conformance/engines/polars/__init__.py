"""Support for Polars."""
