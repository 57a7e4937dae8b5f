"""Manifest lists in columns (Manifest Lists)."""
