"""Table metadata, evolution, retention and name mappings."""
