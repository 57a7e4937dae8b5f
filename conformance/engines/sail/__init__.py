"""Support for Sail."""
