"""Snapshots, their references and how long both are kept (Snapshots; Snapshot References; Snapshot Retention Policy)."""
