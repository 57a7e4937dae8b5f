"""Races of commits: writers whose steps interleave in every order, and what must hold whatever the order."""
