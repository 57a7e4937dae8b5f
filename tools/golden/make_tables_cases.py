"""All golden tables; importing this registers their makers."""

from tools.golden import make_tables_deletes, make_tables_types

__all__ = ["make_tables_deletes", "make_tables_types"]
