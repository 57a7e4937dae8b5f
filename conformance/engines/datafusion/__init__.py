"""All about DataFusion."""
