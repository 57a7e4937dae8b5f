"""All about pyiceberg-core."""
