"""All about Sail."""
