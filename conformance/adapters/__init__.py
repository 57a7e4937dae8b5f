"""Adapters, each speaking the protocol for one implementation; also run as ``python -m conformance.adapters.NAME``."""
