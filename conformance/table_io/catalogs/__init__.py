"""Servers of catalogs that the tool can start: which there are, how each is started, killed and started again."""
