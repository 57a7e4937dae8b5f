"""Commits that race."""
