"""All about Daft."""
