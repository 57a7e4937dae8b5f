"""Support for DataFusion."""
