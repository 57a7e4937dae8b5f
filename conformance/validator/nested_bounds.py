"""Bounds of columns whose bounds are not single values (Bounds for Geometry and Geography; Variant).

Each value is compared with the bounds when it is read, and is not kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import attrs
import pyarrow.compute as pc

from conformance.validator.finding import from_violation, with_severity
from spec_ref.checks.findings import Finding
from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.encodings.variant.shredding import unshred
from spec_ref.columnar.schemas.arrow_columns import arrow_type
from spec_ref.core.errors import SpecError, Violation
from spec_ref.data_types.types import Type, VariantType, kind
from spec_ref.encodings.geo.geometry import coordinates
from spec_ref.encodings.geo.wkb import read_wkb
from spec_ref.encodings.variant.value import decode_variant
from spec_ref.single_value.bounds import decode_bound
from spec_ref.single_value.geo_bounds import GeoPoint
from spec_ref.single_value.variant_values import check_within

MAX_FINDINGS = 100
"""The maximum number of problems of a column that are kept."""

_DIMENSIONS = "xyzm"


def decode_nested_bound(type_: Type, data: bytes | None) -> Any:
    """Decode a bound; None if there is none, or if it is not of the type, which the rules over entries report."""
    try:
        return None if data is None else decode_bound(type_, data)
    except SpecError:
        return None


class Beyond:
    """Collects the values of a column that are not within its bounds."""

    def __init__(self, type_: Type, lower: bytes | None, upper: bytes | None) -> None:
        self.type = type_
        self.lower, self.upper = decode_nested_bound(type_, lower), decode_nested_bound(type_, upper)
        self.row = 0
        self.problems: dict[tuple[str, str], Violation] = {}
        """The first problem for each code and place."""

    def add(self, column: Any) -> None:
        """Check more rows."""
        if isinstance(self.type, VariantType):
            self._variants(column)
        else:
            self._objects(column)
        self.row += len(column)

    def _keep(self, problem: Violation) -> None:
        if len(self.problems) < MAX_FINDINGS:
            self.problems.setdefault((problem.requirement, problem.path), problem)

    def _variants(self, column: Any) -> None:
        if column.null_count == len(column):
            return  # nothing to compare; without values, the column may have Arrow's null type
        if column.type.get_field_index("typed_value") >= 0:
            try:
                column = unshred(column, arrow_type(self.type))
            except SpecError as error:
                self._keep(attrs.evolve(error.violation, path=""))
                return
        for value in to_python_values(self.type, column):
            if value is None:
                continue
            try:
                node = decode_variant(value)
            except SpecError as error:
                self._keep(attrs.evolve(error.violation, path=""))
                continue
            for problem in check_within(node, self.lower, self.upper):
                self._keep(problem)

    def _objects(self, column: Any) -> None:
        kernels: Any = pc
        for value in kernels.unique(column).to_pylist():
            if value is None:
                continue
            try:
                positions = list(coordinates(read_wkb(value)))
            except SpecError as error:
                self._keep(error.violation)
                continue
            for position in positions:
                for problem in self._beyond(position):
                    self._keep(problem)

    def _beyond(self, position: tuple[float, ...]) -> Iterator[Violation]:
        """Find the dimensions in which a position is outside of the box; those that a corner lacks are unbounded."""
        for name, ordinate in zip(_DIMENSIONS, position, strict=True):
            if math.isnan(ordinate):
                continue
            low, high = _end(self.lower, name), _end(self.upper, name)
            if name == "x" and low is not None and high is not None and low > high and kind(self.type) == "geography":
                if high < ordinate < low:
                    message = "an object is outside of the box across the antimeridian"
                    yield _outside("BND002", message, "/lower_bounds", ordinate, f"at least {low}, or at most {high}")
                continue
            if low is not None and ordinate < low:
                yield _outside(
                    "BND001", f"{name} of an object is below the box", "/lower_bounds", ordinate, f"at least {low}"
                )
            if high is not None and ordinate > high:
                yield _outside(
                    "BND001", f"{name} of an object is above the box", "/upper_bounds", ordinate, f"at most {high}"
                )

    def findings(self, field_id: int, name: str, location: str, manifest: str, entry: str) -> Iterator[Finding]:
        """Yield the findings: for values in the data file, for bounds in the manifest entry.

        Args:
            field_id: the field id of the column.
            name: the path of the column in the file.
            location: the data file.
            manifest: the manifest.
            entry: the path of the data file's entry in the manifest.
        """
        for problem in self.problems.values():
            attribute, _, path = problem.path.partition("#")
            if not attribute.endswith("_bounds"):
                yield from_violation(problem, file=location, under=name)
                continue
            where = f"{entry}{attribute}/{field_id}" + (f"#{path}" if path else "")
            yield with_severity(attrs.evolve(problem, file=manifest, path=where))


def _end(corner: GeoPoint | None, name: str) -> float | None:
    found: float | None = None if corner is None else getattr(corner, name)
    return None if found is None or math.isnan(found) else found


def _outside(code: str, message: str, path: str, found: float, expected: str) -> Violation:
    return Violation(requirement=code, message=message, path=path, found=repr(found), expected=expected)
