"""The exchange form of bounds: points, paths, and values of their type for all others."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.operations.bounds.wire import bound_from_exchange, bound_to_exchange, bounds_equal
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import INT, LONG, STRING, VARIANT, GeographyType, GeometryType, Type
from spec_ref.single_value.geo_bounds import GeoPoint

GEOMETRY = GeometryType()


@pytest.mark.parametrize(
    ("type_", "bound", "json"),
    [
        (LONG, 34, "34"),
        (LONG, None, None),
        (GEOMETRY, GeoPoint(1.0, 2.0), {"x": 1.0, "y": 2.0}),
        (GeographyType(), GeoPoint(1.0, 2.0, m=4.0), {"x": 1.0, "y": 2.0, "m": 4.0}),
        (GEOMETRY, GeoPoint(1.0, 2.0, 3.0, 4.0), {"x": 1.0, "y": 2.0, "z": 3.0, "m": 4.0}),
        (
            VARIANT,
            {"$['a']": (LONG, 1), "$": (STRING, "x")},
            {"$['a']": {"type": "long", "value": "1"}, "$": {"type": "string", "value": "x"}},
        ),
        (VARIANT, {}, {}),
    ],
)
def test_bounds_travel_in_their_form(type_: Type, bound: Any, json: Any) -> None:
    assert bound_to_exchange(type_, bound) == json
    assert bounds_equal(type_, bound_from_exchange(type_, json), bound)


@pytest.mark.parametrize(
    ("type_", "left", "right"),
    [
        (GEOMETRY, GeoPoint(1.0, 2.0), GeoPoint(1.0, 2.0, 0.0)),
        (GEOMETRY, GeoPoint(0.0, 2.0), GeoPoint(-0.0, 2.0)),
        (VARIANT, {"$": (LONG, 1)}, {"$": (INT, 1)}),
        (VARIANT, {"$": (INT, 1)}, {}),
    ],
)
def test_other_bounds_are_not_equal(type_: Type, left: Any, right: Any) -> None:
    assert bounds_equal(type_, left, left)
    assert not bounds_equal(type_, left, right)


@pytest.mark.parametrize(
    ("type_", "json", "path"),
    [
        (GEOMETRY, "POINT (1 2)", ""),
        (GEOMETRY, {"x": 1.0}, ""),
        (GEOMETRY, {"x": 1.0, "y": 2.0, "w": 3.0}, ""),
        (GEOMETRY, {"x": 1.0, "y": "2"}, "/y"),
        (GEOMETRY, {"x": "NaN", "y": 2.0}, ""),
        (VARIANT, [], ""),
        (VARIANT, {"$": 1}, "/$"),
        (VARIANT, {"$['a/b~']": {"type": "int"}}, "/$['a~1b~0']"),
        (VARIANT, {"$": {"type": "int", "value": "one"}}, "/$"),
        (LONG, 1.5, ""),
    ],
)
def test_what_is_not_of_the_form_is_refused_with_its_place(type_: Type, json: Any, path: str) -> None:
    with pytest.raises(SpecError) as caught:
        bound_from_exchange(type_, json)
    assert caught.value.violation.path == path
