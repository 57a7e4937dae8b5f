"""Support for PyIceberg."""
