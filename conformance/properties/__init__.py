"""Properties that hold for every table, checked with scripts that are drawn."""
