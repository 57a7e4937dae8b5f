"""Metrics of Avro files (Data File Fields; Appendix A, Avro).

Avro is row-oriented: there are no column sizes (DFL011), and no offset is better than another to split a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from spec_ref.avro_mapping.stored_types import type_from_avro, value_reader
from spec_ref.core.errors import Description, spec_error
from spec_ref.core.records import evolve
from spec_ref.data_types.types import StructType
from spec_ref.encodings.avro.container import SCHEMA_KEY, Container, open_container
from spec_ref.encodings.avro.types import Record, parse_schema
from spec_ref.encodings.avro.values import decode_all
from spec_ref.manifests.computed_metrics import TRUNCATED, FileMetrics, MetricsMode, compute_metrics

REQUIREMENT = "AVR014"


def avro_metrics(data: bytes, mode: MetricsMode = TRUNCATED) -> FileMetrics:
    """Compute the metrics of a file from its rows, as its entry in a manifest has them (DFL012 to DFL017).

    Args:
        data: the bytes of the file.
        mode: the metrics to keep for every column.

    Returns:
        The metrics.

    Raises:
        SpecError: the code `REQUIREMENT` of this module, or AVR001 to AVR014, if the bytes are not an Avro file of
            records with columns that Iceberg has.
    """
    container = open_container(data, REQUIREMENT)
    schema = parse_schema(container.metadata[SCHEMA_KEY], REQUIREMENT)
    struct = type_from_avro(schema)
    # A union of null and a record is a struct, too.
    if not isinstance(schema, Record) or not isinstance(struct, StructType):
        raise spec_error(
            REQUIREMENT,
            "the objects of the data file are not records",
            found=Description(str(struct)),
            expected="a record",
        )
    made = compute_metrics(struct, _rows(container, schema, struct), mode)
    return evolve(made, file_size_in_bytes=len(data))


def _rows(container: Container, schema: Record, struct: StructType) -> Iterator[Mapping[int, Any]]:
    read = value_reader(schema, struct)
    assert read is not None
    first = 0
    for count, payload in container.payloads():
        for values in decode_all(schema, count, payload, REQUIREMENT, first):
            yield read(values)
        first += count
