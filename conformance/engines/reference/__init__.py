"""Support for the reference."""
