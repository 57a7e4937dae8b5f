"""Partition transforms."""
