"""Encrypted files."""
