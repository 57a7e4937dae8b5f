"""Races of commits: explore every interleaving of several writers' steps, and check invariants in each."""
