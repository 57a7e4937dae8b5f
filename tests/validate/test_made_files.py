"""The tables that the kit breaks are valid before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.validator.context import Level
from conformance.vectors.golden_tables import materialize
from spec_ref.checks.findings import Severity
from spec_ref.data_types.types import INT
from spec_ref.single_value.variant_bounds import encode_variant_bound
from tests.validate.corruptions import nested_bounds, statistics
from tools.grid.workbench import Workbench

ABOUT = ("STA", "BND")
"""The areas of what is made; the tables have warnings of others as they are."""


def reported_codes(bench: Workbench) -> list[str]:
    found = bench.validate(Level.ROWS).findings
    return [str(one) for one in found if one.severity is Severity.ERROR or one.requirement.startswith(ABOUT)]


@pytest.mark.parametrize("table", [statistics.PARTITIONED, statistics.UPGRADED, statistics.BUCKETS])
def test_partition_statistics_that_count_right_are_valid(table: str, tmp_path: Path) -> None:
    materialize([table])
    bench = Workbench(table, tmp_path)
    statistics.partition_statistics(bench)
    assert reported_codes(bench) == []


def test_a_box_around_all_objects_is_valid(tmp_path: Path) -> None:
    materialize([nested_bounds.V3])
    bench = Workbench(nested_bounds.V3, tmp_path)
    nested_bounds.objects(bench, nested_bounds.GEOMETRY, nested_bounds.POINTS)
    corner = nested_bounds.corner
    nested_bounds.bounds(bench, corner(*nested_bounds.LOW), corner(*nested_bounds.HIGH))
    assert reported_codes(bench) == []


def test_a_box_across_the_antimeridian_is_valid(tmp_path: Path) -> None:
    materialize([nested_bounds.V3])
    bench = Workbench(nested_bounds.V3, tmp_path)
    nested_bounds.objects(bench, nested_bounds.GEOGRAPHY, ((179.0, 5.0), (-179.0, 6.0)))
    nested_bounds.bounds(bench, nested_bounds.corner(178.0, 5.0), nested_bounds.corner(-178.0, 6.0))
    assert reported_codes(bench) == []


@pytest.mark.parametrize("bounds", [{"$['a']": (INT, 1)}, {"$['b']": (INT, 9)}])
def test_bounds_of_fields_that_hold_are_valid(bounds: Any, tmp_path: Path) -> None:
    materialize([nested_bounds.VARIANTS])
    bench = Workbench(nested_bounds.VARIANTS, tmp_path)
    nested_bounds.bounds(bench, encode_variant_bound(bounds), encode_variant_bound(bounds))
    assert reported_codes(bench) == []
