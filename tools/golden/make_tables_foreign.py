"""Golden tables of data files in forms that Iceberg writers should not produce, or rarely produce.

They have stored columns of type unknown, columns without field ids, Avro codecs that Iceberg's properties do not name,
and shredded variants in forms that the engines of this project do not write, or that the text forbids.
"""

from __future__ import annotations

import io
from decimal import Decimal
from typing import Any

from tools.derive import avro, awkward, variant
from tools.derive.instants import count
from tools.golden.make_tables_arrow import ENGINE, ArrowTable
from tools.golden.make_tables_kit import golden, list_type, map_type, struct

FORMATS = ("parquet", "orc", "avro")

# Type unknown


@golden("arrow-unknown-stored", ENGINE)
def _unknown(_session: None) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        "id": "long",
        "nothing": "unknown",
        "point": struct((6, "x", "unknown"), (7, "y", "int")),
        "items": list_type(8, "unknown"),
        "props": map_type(9, "string", 10, "unknown"),
    }
    about = "columns of numbers in the file of a table where they are of type unknown"
    table = ArrowTable("arrow-unknown-stored", about, columns, version=3, last=10)

    def field(name: str, type_: Any, id_: int, *, required: bool = False) -> Any:
        return pa.field(name, type_, nullable=not required, metadata={"PARQUET:field_id": str(id_)})

    whole = pa.int64()
    schema = pa.schema(
        [
            field("id", whole, 1),
            field("nothing", whole, 2),
            field("point", pa.struct([field("x", whole, 6), field("y", pa.int32(), 7)]), 3),
            field("items", pa.list_(field("element", whole, 8)), 4),
            field("props", pa.map_(field("key", pa.string(), 9, required=True), field("value", whole, 10)), 5),
        ]
    )
    rows: list[dict[str, Any]] = [
        {"id": 1, "nothing": 2, "point": {"x": 3, "y": 4}, "items": [5, None], "props": [("k", 6)]},
        {"id": 2, "nothing": None, "point": None, "items": [], "props": None},
    ]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema), out, store_schema=False)
    table.add(table.write_bytes("1.parquet", out.getvalue(), 2, f"pyarrow: write 1.parquet of {rows} as numbers"))
    read = {"id": 1, "nothing": None, "point": {"x": None, "y": 4}, "items": [None, None], "props": [("k", None)]}
    table.finish_table([read, {**rows[1]}])


# Field ids


def _partly(format_: str) -> None:
    @golden(f"arrow-ids-partly-{format_}", ENGINE)
    def make(_session: None) -> None:
        about = f"a column without a field id, which the table has by its name, and one that no table has, in {format_}"
        table = ArrowTable(f"arrow-ids-partly-{format_}", about, {"id": "long", "data": "string"})
        rows: list[dict[str, Any]] = [{"id": 1, "data": "a", "more": 5}, {"id": 2, "data": None, "more": 6}]
        name = f"1.{format_}"
        table.add(
            table.write_bytes(
                name, _numbered(format_, rows), 2, f"write {name} of {rows}, with a field id for id alone"
            )
        )
        table.finish_table([{"id": 1, "data": None}, {"id": 2, "data": None}])


def _numbered(format_: str, rows: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.orc as orc
    import pyarrow.parquet as pq

    if format_ == "avro":
        fields = [
            {"name": "id", "type": "long", "field-id": 1},
            {"name": "data", "type": ["null", "string"], "default": None},
            {"name": "more", "type": "long"},
        ]
        return _avro({"type": "record", "name": "row", "fields": fields}, rows, "deflate")
    key = "PARQUET:field_id" if format_ == "parquet" else "iceberg.id"
    columns: list[pa.Field[Any]] = [pa.field("id", pa.int64(), metadata={key: "1"})]
    schema = pa.schema([*columns, pa.field("data", pa.string()), pa.field("more", pa.int64())])
    out = io.BytesIO()
    made = pa.Table.from_pylist(rows, schema)
    if format_ == "orc":
        orc.write_table(made, out)
    else:
        pq.write_table(made, out, store_schema=False)
    return out.getvalue()


def _avro(schema: Any, rows: list[dict[str, Any]], codec: str) -> bytes:
    return avro.container(schema, [(len(rows), b"".join(avro.encode(schema, row) for row in rows))], {}, codec)


for _format in FORMATS:
    _partly(_format)


# Avro codecs


def _codec(codec: str) -> None:
    @golden(f"avro-codec-{codec}", ENGINE)
    def make(_session: None) -> None:
        about = f"Avro files that are compressed with {codec}"
        table = ArrowTable(f"avro-codec-{codec}", about, {"id": "long", "data": "string"})
        schema = {
            "type": "record",
            "name": "row",
            "fields": [
                {"name": "id", "type": ["null", "long"], "default": None, "field-id": 1},
                {"name": "data", "type": ["null", "string"], "default": None, "field-id": 2},
            ],
        }
        rows = [{"id": number, "data": None if number == 3 else f"row {number}"} for number in range(1, 6)]
        table.add(
            table.write_bytes("1.avro", _avro(schema, rows, codec), 5, f"write 1.avro of {rows} with the codec {codec}")
        )
        table.finish_table(rows)


for _name in ("bzip2", "xz"):
    _codec(_name)


# Shredded variants

EMPTY = variant.metadata([])
NAMES = ("a", "b", "c", "d")


def _hex(value: Any) -> dict[str, str]:
    metadata, data = variant.encoded(value)
    return {"metadata": metadata.hex().upper(), "value": data.hex().upper()}


def _bytes(value: Any, names: tuple[str, ...] = NAMES) -> bytes:
    return variant.value(value, names)


def _pair(typed: Any = None) -> list[Any]:
    import pyarrow as pa

    return [pa.field("value", pa.binary()), *([] if typed is None else [pa.field("typed_value", typed)])]


def _fields(**types: Any) -> Any:
    import pyarrow as pa

    return pa.struct([pa.field(name, pa.struct(_pair(type_)), nullable=False) for name, type_ in types.items()])


def _variants(name: str, about: str, parts: Any, rows: list[tuple[dict[str, Any], Any]], **more: Any) -> None:
    """Register a table with a column of variants, whose typed values have an Arrow type.

    The rows are given as they are stored, and as they are read.
    """

    @golden(name, ENGINE)
    def make(_session: None) -> None:
        import pyarrow as pa

        from tools.shredded_files import variant_bytes

        table = ArrowTable(name, about, {"id": "long", "v": "variant"}, version=3)
        type_ = pa.struct([pa.field("metadata", pa.binary(), nullable=False), *_pair(parts())])
        stored = [{"metadata": variant.metadata(list(NAMES), sorted_=True), **row} for row, _ in rows]
        fields = [
            pa.field(column, of, metadata={"PARQUET:field_id": str(id_)})
            for id_, (column, of) in enumerate((("id", pa.int64()), ("v", type_)), 1)
        ]
        made = pa.Table.from_arrays(
            [pa.array(range(1, len(rows) + 1), pa.int64()), pa.array(stored, type_)], schema=pa.schema(fields)
        )
        data = variant_bytes(made)
        table.add(
            table.write_bytes("1.parquet", data, len(rows), f"pyarrow: write 1.parquet of {[row for row, _ in rows]}")
        )
        table.finish_table([{"id": number, "v": _hex(value)} for number, (_, value) in enumerate(rows, 1)])


def _objects() -> Any:
    import pyarrow as pa

    return _fields(a=pa.string(), b=pa.int64(), c=None)


def _typed(value: Any) -> dict[str, Any]:
    return {"value": None, "typed_value": value}


def _untyped(value: Any) -> dict[str, Any]:
    return {"value": _bytes(value), "typed_value": None}


MISSING: dict[str, Any] = {"value": None, "typed_value": None}


def _object(value: Any, **fields: Any) -> dict[str, Any]:
    return {"value": value, "typed_value": {name: fields.get(name, MISSING) for name in ("a", "b", "c")}}


_variants(
    "arrow-variant-shredded",
    "objects that are all partly shredded, with fields that are missing, null or of another type",
    _objects,
    [
        (
            _object(_bytes({"d": 1}), a=_typed("x"), b=_typed(2), c={"value": _bytes([True])}),
            {"a": "x", "b": 2, "c": [True], "d": 1},
        ),
        (
            _object(_bytes({"d": {"a": 1}}), a=_untyped(None), b=_untyped("three")),
            {"a": None, "b": "three", "d": {"a": 1}},
        ),
        (_object(_bytes({"d": None})), {"d": None}),
    ],
)
WORDS = {
    "timestamptz": "timestamp",
    "timestamp": "timestamp_ntz",
    "timestamptz_ns": "timestamp_ns",
    "timestamp_ns": "timestamp_ntz_ns",
}
"""The names in the variant encoding of types that Iceberg calls otherwise."""


def _awkward(rows: list[awkward.Row], far: bool) -> list[tuple[dict[str, Any], Any]]:
    """Return the awkward values that a variant can have, as they are stored and as they are read."""
    made: list[Any] = []
    for name, type_, value, _ in rows:
        kind = awkward.kind(type_)
        if awkward.is_far(name, type_) is not far or kind in ("uuid", "fixed"):
            continue
        if kind == "decimal":
            made.append(Decimal(value))
        elif kind in ("boolean", "string"):
            made.append(value)
        elif kind == "binary":
            made.append(bytes.fromhex(value))
        elif kind in ("int", "long"):
            made.append(int(value))
        elif kind in ("float", "double"):
            made.append(float(value) if kind == "double" else ("float", float(value)))
        else:
            made.append((WORDS.get(kind, kind), count(type_, value)))
    return [({"value": _bytes(one)}, one) for one in made]


OTHERS = [row for row in awkward.EVERY_ROW if row not in awkward.INSTANT_LIMITS]
"""The rows of the two tables that are older than the limits of instants."""

_variants(
    "arrow-variant-awkward",
    "variants of values at limits, or that are easily changed",
    lambda: None,
    _awkward(OTHERS, far=False),
)
_variants(
    "arrow-variant-far",
    "variants of days and instants before the year 1 and after 9999",
    lambda: None,
    _awkward(OTHERS, far=True),
)
_variants(
    "arrow-variant-instant-limits",
    "variants of instants beside the limits of nanoseconds",
    lambda: None,
    _awkward(awkward.INSTANT_LIMITS, far=False),
)
_variants(
    "arrow-variant-far-instant-limits",
    "variants of instants beside the limits of microseconds",
    lambda: None,
    _awkward(awkward.INSTANT_LIMITS, far=True),
)
_variants(
    "arrow-variant-both",
    "a field of a variant that has a value and a typed value",
    _objects,
    [(_object(None, a={"value": _bytes("other"), "typed_value": "x"}), {"a": "x"})],
)
_variants(
    "arrow-variant-no-object",
    "shredded fields beside a value that is not an object",
    _objects,
    [(_object(_bytes("text"), a=_typed("x")), {"a": "x"})],
)
_variants(
    "arrow-variant-field-twice",
    "a field that is shredded, and in the value beside it",
    _objects,
    [(_object(_bytes({"a": "other", "d": 1}), a=_typed("x")), {"a": "x", "d": 1})],
)
