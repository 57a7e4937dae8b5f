"""Write records of the spec as rows of Avro files, by their field rules."""

from __future__ import annotations

import operator
from typing import Any

from spec_ref.avro_mapping.rows import EnumAsString, PartitionTuple, RecordStruct, Wire, written_fields
from spec_ref.avro_mapping.schema import Convert, value_writer
from spec_ref.core.errors import SpecError, error_path, spec_error
from spec_ref.core.versions import REQUIRED, FormatVersion
from spec_ref.data_types.types import MapType, StructType


class RowWriter:
    """Converts records to the values of `spec_ref.encodings.avro.values`."""

    def __init__(self, cls: type, version: FormatVersion, partition: StructType) -> None:
        self._version = version
        self._fields = tuple(
            (operator.attrgetter(attribute), rule, _writer(rule.type, version, partition))
            for attribute, rule in written_fields(cls, version)
        )

    def __call__(self, row: Any) -> tuple[Any, ...]:
        """Convert a record to the values of the fields of `record_struct`.

        Args:
            row: the record.

        Returns:
            The values, in the order of the fields.

        Raises:
            SpecError: the code of a field that the version requires and the record does not have; the code of the type
                of a partition value that is not a value of it.
        """
        values: list[Any] = []
        for get, rule, write in self._fields:
            value = get(row)
            if value is None:
                if rule.writer_presence(self._version) is REQUIRED:
                    raise spec_error(
                        rule.requirement,
                        f"{rule.name} is null",
                        expected=f"{rule.name}, which is required",
                        path=f"/{rule.name}",
                        format_version=self._version,
                        aspect="null",
                    )
                values.append(None)
                continue
            try:
                values.append(value if write is None else write(value))
            except SpecError:
                with error_path(f"/{rule.name}"):
                    raise
        return tuple(values)


def _writer(wire: Wire, version: FormatVersion, partition: StructType) -> Convert | None:
    match wire:
        case EnumAsString(_, write):
            return write
        case RecordStruct(cls, element_id):
            row = RowWriter(cls, version, partition)
            return row if element_id is None else lambda rows: [row(one) for one in rows]
        case PartitionTuple():
            return value_writer(partition)
        case MapType():
            return lambda entries: list(entries.items())
        case _:
            return None
