"""Manifest lists: the manifests of a snapshot (Manifest Lists)."""
