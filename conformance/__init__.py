"""iceberg-conformance: replay golden vectors against any implementation, and check the tables it writes."""
