"""The exchange form of bounds, where it differs from the exchange form of values.

A bound of a geometry or geography is ``{"x": .., "y": .., "z": .., "m": ..}`` (z and m only if it has them). A
bound of a variant is ``{PATH: {"type": T, "value": V}}``. Any other bound is a value of its type.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from conformance.operations.wire import from_exchange, to_exchange
from spec_ref.core.errors import error_path, spec_error
from spec_ref.data_types.types import DOUBLE, GeographyType, GeometryType, Type, VariantType
from spec_ref.data_types.values import value_key
from spec_ref.schemas.type_json import type_from_json, type_to_json
from spec_ref.single_value.geo_bounds import GeoPoint

_COORDINATES = ("x", "y", "z", "m")


def bound_from_exchange(type_: Type, json: Any) -> Any:
    """Parse a bound in exchange form into the representation of `spec_ref.single_value.bounds`; null for null.

    Raises:
        SpecError: the JSON does not have the exchange form.
    """
    if json is None:
        return None
    match type_:
        case GeometryType() | GeographyType():
            return _read_point(json)
        case VariantType():
            return _read_variant(json)
    return from_exchange(type_, json)


def bound_to_exchange(type_: Type, bound: Any) -> Any:
    """Return the exchange form of a bound; null for null."""
    match type_, bound:
        case GeometryType() | GeographyType(), GeoPoint():
            found = {name: getattr(bound, name) for name in _COORDINATES}
            return {name: value for name, value in found.items() if value is not None}
        case VariantType(), dict():
            return {
                path: {"type": type_to_json(inner), "value": to_exchange(inner, value)}
                for path, (inner, value) in bound.items()
            }
    return to_exchange(type_, bound)


def bounds_equal(type_: Type, left: Any, right: Any) -> bool:
    """Return whether two bounds of the type are equal."""
    return _key(type_, left) == _key(type_, right)


def _key(type_: Type, bound: Any) -> Hashable:
    match type_, bound:
        case GeometryType() | GeographyType(), GeoPoint():
            found = [getattr(bound, name) for name in _COORDINATES]
            return tuple(None if value is None else value_key(DOUBLE, value) for value in found)
        case VariantType(), dict():
            return frozenset((path, inner, value_key(inner, value)) for path, (inner, value) in bound.items())
    return value_key(type_, bound)


def _read_point(json: Any) -> GeoPoint:
    if not isinstance(json, dict) or not {"x", "y"} <= json.keys() <= set(_COORDINATES):
        raise spec_error(
            "SVB011", "the value is not a geospatial bound", found=json, expected="an object of x, y and perhaps z, m"
        )
    coordinates = {}
    for name, number in json.items():
        with error_path(f"/{name}"):
            coordinates[name] = from_exchange(DOUBLE, number)
    return GeoPoint(**coordinates)


def _read_variant(json: Any) -> dict[str, tuple[Type, Any]]:
    if not isinstance(json, dict):
        raise spec_error("BND005", "the value is not a bound of a variant", found=json, expected="an object of paths")
    bound = {}
    for path, entry in json.items():
        with error_path("/" + path.replace("~", "~0").replace("/", "~1")):
            if not isinstance(entry, dict) or entry.keys() != {"type", "value"}:
                raise spec_error(
                    "BND005",
                    "the value is not the bound of a field",
                    found=entry,
                    expected="an object of type and value",
                )
            inner = type_from_json(entry["type"])
            bound[path] = (inner, from_exchange(inner, entry["value"]))
    return bound
