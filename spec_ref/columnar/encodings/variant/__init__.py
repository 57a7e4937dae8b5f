"""Variant values as arrays (Semi-structured Types)."""
