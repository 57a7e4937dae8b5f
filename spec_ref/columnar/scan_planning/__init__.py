"""Planning over the columns of manifests (Scan Planning)."""
