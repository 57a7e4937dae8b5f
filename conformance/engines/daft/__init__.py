"""Support for Daft."""
