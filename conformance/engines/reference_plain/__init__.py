"""Support for the plain form of the reference."""
