"""Snapshots, their references and how long both are kept."""
