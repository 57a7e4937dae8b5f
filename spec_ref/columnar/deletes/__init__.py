"""Deletes over Arrow arrays and many positions at once (Delete Formats)."""
