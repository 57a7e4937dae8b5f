"""Schemas and what belongs to them (Schemas and Data Types)."""
