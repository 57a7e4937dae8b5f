"""Puffin files (Puffin, version 1)."""
