"""Support for this reference on Spark."""
