"""Deletes: deletion vectors, position deletes and equality deletes (Delete Formats)."""
