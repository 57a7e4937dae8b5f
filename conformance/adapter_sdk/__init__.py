"""What adapters in Python share. Each adapter is in the folder of its engine, in `conformance.engines`."""
