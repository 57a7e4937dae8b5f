"""All about the plain form of this reference."""
