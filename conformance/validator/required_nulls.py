"""Nulls in required fields of structs, in required elements, keys and values, and instead of required nested values.

Nulls of required columns of other types are counted with the metrics (`conformance.validator.rows`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from conformance.core.counts import plural
from conformance.validator.finding import finding
from spec_ref.checks.findings import Finding
from spec_ref.columnar.manifests.computed_metrics import storage_array
from spec_ref.core.errors import Description
from spec_ref.data_types.types import ListType, MapType, StructType, Type, children

_MESSAGES = {
    "TYP002": "a required column has nulls",
    "TYP003": "a list of required elements has nulls",
    "TYP004": "a map has nulls as keys or as required values",
}


class RequiredNulls:
    """Counts the nulls of required fields inside nested columns, over the batches of a file."""

    def __init__(self, struct: StructType, is_required: Callable[[int], bool]) -> None:
        """Find the columns to examine.

        Args:
            struct: the columns of the file.
            is_required: whether the field, element, key or value with an id is required.
        """
        self._fields = struct.fields
        self._is_required = is_required
        self._counts: Counter[tuple[str, str]] = Counter()
        self.places = tuple(
            place
            for place, field in enumerate(struct.fields)
            if isinstance(field.type, (StructType, ListType, MapType)) and self._constrains(field.id, field.type)
        )
        """The columns that are required or have something required in them, by their places in the file."""

    def _constrains(self, field_id: int, type_: Type) -> bool:
        return self._is_required(field_id) or any(self._constrains(*child) for child in children(type_))

    def add(self, place: int, column: Any) -> None:
        """Count the nulls of a batch in the column at a place."""
        field = self._fields[place]
        self._count("TYP002", field.id, f"/{field.name}", field.type, column)

    def _count(self, requirement: str, field_id: int, path: str, type_: Type, array: Any) -> None:
        if array.null_count and self._is_required(field_id):
            self._counts[requirement, path] += array.null_count
        if array.null_count == len(array):  # only nulls, or nothing
            return
        array = storage_array(array.drop_null() if array.null_count else array)  # what is inside a null is not a value
        for part_requirement, part_id, name, part_type, part in _parts(type_, array):
            if self._constrains(part_id, part_type):
                self._count(part_requirement, part_id, f"{path}/{name}", part_type, part)

    def findings(self, location: str) -> Iterator[Finding]:
        """Yield a finding for each column that has nulls.

        Args:
            location: the file.
        """
        for (requirement, path), nulls in self._counts.items():
            yield finding(
                requirement,
                _MESSAGES[requirement],
                file=location,
                path=path,
                found=Description(plural(nulls, "null")),
                expected="none",
                aspect="null",
            )


def _parts(type_: Type, array: Any) -> Iterator[tuple[str, int, str, Type, Any]]:
    """Yield what is directly inside an array that is not empty and has no nulls: requirement, id, name, type, array."""
    match type_:
        case StructType(fields):
            for field in fields:
                place = array.type.get_field_index(field.name)
                if place >= 0:  # a name that is not unique is reported where the columns are read
                    yield "TYP002", field.id, field.name, field.type, array.field(place)
        case ListType(element_id, element):
            yield "TYP003", element_id, "element", element, array.flatten()
        case MapType(key_id, key, value_id, value):
            entries = slice(array.offsets[0].as_py(), array.offsets[-1].as_py())
            yield "TYP004", key_id, "key", key, array.keys[entries]
            yield "TYP004", value_id, "value", value, array.items[entries]
