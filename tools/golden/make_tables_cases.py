"""All golden tables; importing this module registers their makers."""

from tools.golden import (
    make_tables_arrow,
    make_tables_awkward,
    make_tables_broken,
    make_tables_deletes,
    make_tables_evolution,
    make_tables_foreign,
    make_tables_history,
    make_tables_partitions,
    make_tables_pyiceberg,
    make_tables_scripts,
    make_tables_types,
)

__all__ = [
    "make_tables_arrow",
    "make_tables_awkward",
    "make_tables_broken",
    "make_tables_deletes",
    "make_tables_evolution",
    "make_tables_foreign",
    "make_tables_history",
    "make_tables_partitions",
    "make_tables_pyiceberg",
    "make_tables_scripts",
    "make_tables_types",
]
