"""Support for pyiceberg-core."""
