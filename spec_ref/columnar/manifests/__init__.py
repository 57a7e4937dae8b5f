"""Entries of manifests as columns (Manifests)."""
