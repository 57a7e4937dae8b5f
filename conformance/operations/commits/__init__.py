"""Concurrent commits."""
