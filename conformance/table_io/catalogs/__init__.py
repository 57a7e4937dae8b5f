"""Catalog servers that the tool can start, kill and restart."""
