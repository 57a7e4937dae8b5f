"""Single values, in binary and in JSON."""
