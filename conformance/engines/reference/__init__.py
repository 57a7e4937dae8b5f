"""All about this reference."""
