"""Bounds that are not single values (Bounds for Geometry and Geography; Variant).

Each value of such a column is compared with the bounds when it is read, and is not kept.
"""

from __future__ import annotations

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
from spec_ref.data_types.types import GeographyType, GeometryType, Type
from spec_ref.encodings.variant.value import decode_variant
from spec_ref.single_value.bounds import decode_bound
from spec_ref.single_value.geo_bounds import check_within_box
from spec_ref.single_value.variant_values import check_within_bounds

MAX_FINDINGS = 100
"""The maximum number of problems of a column that are kept."""


def decode_nested_bound(type_: Type, data: bytes | None) -> Any:
    """Decode a bound; None if there is none, or if it is invalid for the type, which the rules over entries report."""
    try:
        return None if data is None else decode_bound(type_, data)
    except SpecError:
        return None


class BoundViolations:
    """Collects the values of a column that are not within its bounds."""

    def __init__(self, type_: Type, lower: bytes | None, upper: bytes | None) -> None:
        self.type = type_
        self.lower, self.upper = decode_nested_bound(type_, lower), decode_nested_bound(type_, upper)
        self.row = 0
        self.problems: dict[tuple[str, str], Violation] = {}
        """The first problem for each code and place."""

    def add(self, column: Any) -> None:
        """Check more rows."""
        if isinstance(self.type, (GeometryType, GeographyType)):
            self._objects(self.type, column)
        else:
            self._variants(column)
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
            for problem in check_within_bounds(node, self.lower, self.upper):
                self._keep(problem)

    def _objects(self, type_: GeometryType | GeographyType, column: Any) -> None:
        kernels: Any = pc
        for value in kernels.unique(column).to_pylist():
            if value is None:
                continue
            try:
                for problem in check_within_box(type_, self.lower, self.upper, value):
                    self._keep(problem)
            except SpecError as error:
                self._keep(error.violation)

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
