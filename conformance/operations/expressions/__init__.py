"""Predicates."""
