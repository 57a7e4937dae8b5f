"""All about this reference on Spark."""
