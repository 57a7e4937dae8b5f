"""Row lineage over Arrow arrays (Row Lineage)."""
