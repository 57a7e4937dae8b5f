"""Documents with one broken rule: partition specs and sort orders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive.metadata import DROP, Document
from tools.derive.metadata_bases import ID
from tools.derive.metadata_cases import EITHER, READ, REFUSED, Case, rows

FIELDS = "/partition-specs/1/fields"
BUCKET = f"{FIELDS}/1"
"""The place, in the base v2-nested, of a partition field with bucket[16] of the long column 1."""


def form() -> Iterator[Case]:
    """Yield cases of specs and orders that do not have the form of Appendix C."""
    yield from rows(
        "spec",
        "v2-nested",
        [
            ("list", "PAR016", {"/partition-specs/0": []}, REFUSED, "a spec is the list of its fields"),
            ("without-id", "PAR016", {"/partition-specs/0/spec-id": DROP}, REFUSED, "a spec has no id"),
            ("id-string", "PAR016", {"/partition-specs/0/spec-id": "0"}, REFUSED, "the id of a spec is a string"),
            (
                "without-fields",
                "PAR016",
                {"/partition-specs/1/fields": DROP, "/last-partition-id": 999},
                REFUSED,
                "a spec has no list of fields",
            ),
            ("fields-object", "PAR016", {"/partition-specs/0/fields": {}}, REFUSED, "the fields are an object"),
            ("field-string", "PAR016", {BUCKET: "bucket(16, id)"}, REFUSED, "a field is a string"),
            ("field-without-source", "PAR017", {f"{BUCKET}/source-id": DROP}, REFUSED, "a field has no source"),
            (
                "field-source-string",
                "PAR017",
                {f"{BUCKET}/source-id": "1"},
                REFUSED,
                "the source of a field is a string",
            ),
            ("field-source-name", "PAR017", {f"{BUCKET}/source-id": "id"}, REFUSED, "the source of a field is a name"),
            (
                "field-without-id",
                "PAR019",
                {f"{BUCKET}/field-id": DROP, "/last-partition-id": 1001},
                EITHER,
                "v1 stores no ids of partition fields",
            ),
            ("field-id-string", "PAR019", {f"{BUCKET}/field-id": "1001"}, REFUSED, "the id of a field is a string"),
            ("field-without-name", "PAR020", {f"{BUCKET}/name": DROP}, REFUSED, "a field has no name"),
            ("field-name-number", "PAR020", {f"{BUCKET}/name": 1}, REFUSED, "the name of a field is a number"),
            ("field-without-transform", "PAR021", {f"{BUCKET}/transform": DROP}, REFUSED, "a field has no transform"),
            (
                "field-transform-object",
                "PAR021",
                {f"{BUCKET}/transform": {"bucket": 16}},
                REFUSED,
                "a transform is an object",
            ),
            ("field-transform-empty", "PAR021", {f"{BUCKET}/transform": ""}, EITHER, "a transform has no name"),
        ],
    )
    order = "/sort-orders/1/fields/0"
    yield from rows(
        "order",
        "v2-nested",
        [
            ("list", "SRT006", {"/sort-orders/0": []}, REFUSED, "an order is the list of its fields"),
            ("without-id", "SRT006", {"/sort-orders/0/order-id": DROP}, REFUSED, "an order has no id"),
            ("id-string", "SRT006", {"/sort-orders/0/order-id": "0"}, REFUSED, "the id of an order is a string"),
            ("without-fields", "SRT006", {"/sort-orders/1/fields": DROP}, REFUSED, "an order has no list of fields"),
            ("field-without-source", "SRT011", {f"{order}/source-id": DROP}, REFUSED, "a field has no source"),
            (
                "field-source-string",
                "SRT011",
                {f"{order}/source-id": "2"},
                REFUSED,
                "the source of a field is a string",
            ),
            ("field-without-transform", "SRT010", {f"{order}/transform": DROP}, REFUSED, "a field has no transform"),
            ("field-without-direction", "SRT013", {f"{order}/direction": DROP}, REFUSED, "a field has no direction"),
            ("field-direction-unknown", "SRT007", {f"{order}/direction": "ascending"}, REFUSED, "no such direction"),
            ("field-direction-number", "SRT013", {f"{order}/direction": 1}, REFUSED, "a direction is a number"),
            ("field-without-null-order", "SRT014", {f"{order}/null-order": DROP}, REFUSED, "a field has no null order"),
            ("field-null-order-unknown", "SRT007", {f"{order}/null-order": "first"}, REFUSED, "no such null order"),
        ],
    )


def ids() -> Iterator[Case]:
    """Yield cases of invalid ids of specs, orders and their fields."""
    identity = {"source-id": 2, "name": "data", "transform": "identity"}
    yield from rows(
        "spec",
        "v2-nested",
        [
            ("ids-twice", "TMD011", {"/partition-specs/0/spec-id": 1}, EITHER, "two specs have the default id"),
            (
                "field-ids-twice",
                "PAR025",
                {f"{BUCKET}/field-id": 1000, "/last-partition-id": 1000},
                EITHER,
                "two fields of a spec have the same id",
            ),
            (
                "field-id-of-another-spec",
                "PAR003",
                {"/partition-specs/0/fields/-": {**identity, "field-id": 1000}},
                EITHER,
                "two specs have the same field id for different fields",
            ),
            (
                "equivalent",
                "PAR008",
                {"/partition-specs/-": {"spec-id": 2, "fields": []}},
                EITHER,
                "two specs are equivalent",
            ),
        ],
    )
    yield from rows(
        "order",
        "v2-nested",
        [
            (
                "ids-twice",
                "TMD019",
                {
                    "/sort-orders/-": {
                        "order-id": 1,
                        "fields": [
                            {"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}
                        ],
                    }
                },
                EITHER,
                "two orders have the default id",
            ),
            (
                "unsorted-with-fields",
                "SRT002",
                {
                    "/sort-orders/0/fields/-": {
                        "transform": "identity",
                        "source-id": 1,
                        "direction": "asc",
                        "null-order": "nulls-first",
                    }
                },
                EITHER,
                "order 0 is the unsorted order, and has fields",
            ),
        ],
    )


# Sources that a transform does not take: name, transform, type of the source, code, the nearest type, notes.

SOURCES: list[tuple[str, str, str, str, str]] = [
    ("bucket-boolean", "bucket[16]", "boolean", "TRN003", "int"),
    ("bucket-float", "bucket[16]", "float", "TRN003", "int"),
    ("bucket-double", "bucket[16]", "double", "TRN003", "long"),
    ("truncate-float", "truncate[16]", "float", "TRN005", "int"),
    ("truncate-date", "truncate[16]", "date", "TRN005", "int"),
    ("truncate-uuid", "truncate[16]", "uuid", "TRN005", "string"),
    ("truncate-fixed", "truncate[16]", "fixed[16]", "TRN005", "binary"),
    ("year-string", "year", "string", "TRN010", "date"),
    ("year-time", "year", "time", "TRN010", "timestamp"),
    ("month-int", "month", "int", "TRN011", "date"),
    ("day-long", "day", "long", "TRN012", "timestamptz"),
    ("hour-date", "hour", "date", "TRN014", "timestamp"),
    ("hour-time", "hour", "time", "TRN014", "timestamp"),
]


def sources() -> Iterator[Case]:
    """Yield cases of sources that a partition field or a sort field cannot have."""
    for name, transform, type_, code, nearest in SOURCES:
        spec: Document = {
            "/partition-specs/0/fields": [{"source-id": 2, "field-id": 1000, "name": "p", "transform": transform}],
            "/last-partition-id": 1000,
        }
        yield Case(
            f"spec-{name}",
            "v2-minimal",
            (code,),
            {**spec, "/schemas/0/fields/1/type": type_},
            EITHER,
            f"{transform.split('[')[0]} does not take {type_}",
            valid_edits={**spec, "/schemas/0/fields/1/type": nearest},
            further_codes=("PAR021",),
        )
    yield from rows(
        "spec",
        "v2-nested",
        [
            ("source-unknown", "PAR004", {f"{BUCKET}/source-id": 12}, EITHER, "no column has the id of a source"),
            ("source-element", "PAR004", {f"{BUCKET}/source-id": 8}, EITHER, "the source is the element of a list"),
            ("source-key", "PAR004", {f"{BUCKET}/source-id": 10}, EITHER, "the source is the key of a map"),
            ("source-value", "PAR004", {f"{BUCKET}/source-id": 11}, EITHER, "the source is the value of a map"),
            (
                "source-struct",
                "PAR004",
                {f"{BUCKET}/source-id": 4, f"{BUCKET}/transform": "identity"},
                EITHER,
                "the source is a struct",
            ),
            (
                "source-list",
                "PAR004",
                {f"{BUCKET}/source-id": 7, f"{BUCKET}/transform": "identity"},
                EITHER,
                "the source is a list",
            ),
        ],
    )
    nested = {f"{BUCKET}/source-id": 5}
    yield Case(
        "spec-source-in-list-struct",
        "v2-nested",
        ("PAR004",),
        {
            "/schemas/0/fields/4/type/element": {
                "type": "struct",
                "fields": [{"id": 12, "name": "x", "required": True, "type": "long"}],
            },
            "/last-column-id": 12,
            f"{BUCKET}/source-id": 12,
        },
        EITHER,
        "the source is a field of a struct in a list",
        valid_edits=nested,
    )
    order = "/sort-orders/1/fields/1"
    yield from rows(
        "order",
        "v2-nested",
        [
            ("source-unknown", "PAR004", {f"{order}/source-id": 12}, EITHER, "no column has the id of a source"),
            ("source-element", "PAR004", {f"{order}/source-id": 8}, EITHER, "the source is the element of a list"),
            ("bucket-double", "TRN003", {f"{order}/source-id": 6}, EITHER, "bucket does not take a double"),
            (
                "hour-string",
                "TRN014",
                {f"{order}/source-id": 2, f"{order}/transform": "hour"},
                EITHER,
                "hour does not take a string",
            ),
        ],
    )
    for name, type_, code in (
        ("variant", "variant", "PAR004"),
        ("geometry", "geometry(srid:4326)", "TRN002"),
        ("geography", "geography(srid:4326, karney)", "TRN002"),
    ):
        spec = {
            "/partition-specs/0/fields": [{"source-id": 2, "field-id": 1000, "name": "p", "transform": "identity"}],
            "/last-partition-id": 1000,
        }
        yield Case(
            f"spec-identity-{name}",
            "v3-minimal",
            (code,),
            {**spec, "/schemas/0/fields/1/type": type_},
            EITHER,
            f"identity does not take {name}",
            valid_edits={**spec, "/schemas/0/fields/1/type": "binary"},
        )


PARAMETERS: list[tuple[str, str, str]] = [
    ("bucket-0", "bucket[0]", "bucket[1]"),
    ("bucket-negative", "bucket[-16]", "bucket[16]"),
    ("truncate-0", "truncate[0]", "truncate[1]"),
    ("truncate-negative", "truncate[-1]", "truncate[1]"),
]


def transforms() -> Iterator[Case]:
    """Yield cases of parameters, unknown transforms, and transforms of several arguments."""
    for name, transform, nearest in PARAMETERS:
        yield Case(
            f"spec-{name}",
            "v2-nested",
            ("PAR021",),
            {f"{BUCKET}/transform": transform},
            EITHER,
            "the parameter of a transform is positive",
            valid_edits={f"{BUCKET}/transform": nearest},
            contradictions=("E15", "E17"),
            further_codes=("TRN017",),
        )
    yield Case(
        "spec-unknown-transform",
        "v3-minimal",
        ("PAR007",),
        {
            "/partition-specs/0/fields": [{"source-id": 1, "field-id": 1000, "name": "z", "transform": "zorder[8]"}],
            "/last-partition-id": 1000,
        },
        READ,
        "writers cannot use a default spec with an unknown transform; readers read the table",
        valid_edits={
            "/partition-specs/-": {
                "spec-id": 1,
                "fields": [{"source-id": 1, "field-id": 1000, "name": "z", "transform": "zorder[8]"}],
            },
            "/last-partition-id": 1000,
        },
        further_codes=("PAR024",),
    )
    several: dict[str, Any] = {"field-id": 1000, "name": "z", "transform": "zorder[8]"}
    near: Document = {
        "/partition-specs/-": {"spec-id": 1, "fields": [{**several, "source-ids": [1, 2]}]},
        "/last-partition-id": 1000,
    }
    for name, base, codes, sources_, note in (
        (
            "both-sources",
            "v3-minimal",
            ("PAR022",),
            {"source-id": 1, "source-ids": [1, 2]},
            "a field has source-id and source-ids",
        ),
        (
            "negative-source-beside-list",
            "v3-minimal",
            ("PAR022",),
            {"source-id": -1, "source-ids": [1, 2]},
            "a field has source-id -1 and source-ids, as a former text had it",
        ),
        ("no-sources", "v3-minimal", ("PAR022",), {}, "a field has neither source-id nor source-ids"),
        ("empty-sources", "v3-minimal", ("PAR022",), {"source-ids": []}, "a field has no source in its list"),
    ):
        yield Case(
            f"spec-{name}",
            base,
            codes,
            {"/partition-specs/-": {"spec-id": 1, "fields": [{**several, **sources_}]}, "/last-partition-id": 1000},
            REFUSED if name in ("no-sources", "empty-sources") else EITHER,
            note,
            valid_edits=near,
            contradictions=("B21",) if name in ("no-sources", "empty-sources") else ("B21", "E17"),
            further_codes=("PAR018", "PAR027") if name in ("no-sources", "empty-sources") else ("PAR027",),
        )
    yield Case(
        "spec-sources-strings",
        "v3-minimal",
        ("PAR018",),
        {
            "/partition-specs/-": {"spec-id": 1, "fields": [{**several, "source-ids": ["1", "2"]}]},
            "/last-partition-id": 1000,
        },
        REFUSED,
        "the ids of sources are strings",
        valid_edits=near,
    )
    for transform in ("zorder[8]", "identity"):
        single, listed = (
            {
                "/last-partition-id": 1000,
                "/partition-specs/-": {"spec-id": 1, "fields": [{**several, "transform": transform, **way}]},
            }
            for way in ({"source-id": 1}, {"source-ids": [1]})
        )
        yield Case(
            f"spec-{transform.split('[')[0]}-of-a-list-of-one",
            "v3-minimal",
            ("PAR022",),
            listed,
            EITHER,
            "a transform of one argument has a list of sources",
            valid_edits=single,
            contradictions=("B21", "E17"),
        )
    sort = {"transform": "zorder[8]", "direction": "asc", "null-order": "nulls-first"}
    yield Case(
        "order-both-sources",
        "v3-minimal",
        ("SRT008",),
        {"/sort-orders/-": {"order-id": 1, "fields": [{**sort, "source-id": 1, "source-ids": [1, 2]}]}},
        EITHER,
        "a field has source-id and source-ids",
        valid_edits={"/sort-orders/-": {"order-id": 1, "fields": [{**sort, "source-ids": [1, 2]}]}},
        contradictions=("B21", "E17"),
    )
    for transform in ("zorder[8]", "identity"):
        one, other = (
            {"/sort-orders/-": {"order-id": 1, "fields": [{**sort, "transform": transform, **way}]}}
            for way in ({"source-id": 1}, {"source-ids": [1]})
        )
        yield Case(
            f"order-{transform.split('[')[0]}-of-a-list-of-one",
            "v3-minimal",
            ("SRT008",),
            other,
            EITHER,
            "a transform of one argument has a list of sources",
            valid_edits=one,
            contradictions=("B21", "E17"),
        )
    unknown = {**sort, "source-id": 1}
    near = {"/sort-orders/-": {"order-id": 1, "fields": [unknown]}, "/default-sort-order-id": 1}
    single, none = {"source-id": None}, ("B21",)
    for name, code, change, note, why in (
        ("no-sources", "SRT008", single, "a field has neither source-id nor source-ids", none),
        ("empty-sources", "SRT008", {**single, "source-ids": []}, "a field has no source in its list", none),
        ("sources-strings", "SRT012", {**single, "source-ids": ["1", "2"]}, "the ids of sources are strings", ()),
        ("transform-list", "SRT010", {"transform": ["zorder", 8]}, "a transform is a list", ()),
    ):
        field = {key: value for key, value in {**unknown, **change}.items() if value is not None}
        yield Case(
            f"order-unknown-transform-{name}",
            "v3-minimal",
            (code,),
            {"/sort-orders/-": {"order-id": 1, "fields": [field]}, "/default-sort-order-id": 1},
            REFUSED,
            note,
            valid_edits=near,
            contradictions=why,
            further_codes=("SRT009",),
        )
    several = {**sort, "source-ids": [1, 2]}
    yield Case(
        "order-unknown-transform-source-unknown",
        "v3-minimal",
        ("PAR004",),
        {"/sort-orders/-": {"order-id": 1, "fields": [{**several, "source-ids": [1, 3]}]}, "/default-sort-order-id": 1},
        EITHER,
        "no column has the id of one of several sources of the default order",
        valid_edits={"/sort-orders/-": {"order-id": 1, "fields": [several]}, "/default-sort-order-id": 1},
        further_codes=("SRT009",),
    )


def evolved_orders() -> Iterator[Case]:
    """Yield cases of tables whose sort order changed: invalid ones, and valid neighbours (contradiction E22)."""
    by_id = {"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}
    by_data = {**by_id, "source-id": 2}
    dropped = {"/schemas/-": {"type": "struct", "schema-id": 1, "fields": [ID]}, "/current-schema-id": 1}
    for name, code, orders, near, default, note, more in (
        (
            "id-used-again",
            "TMD019",
            [(0,), (1, by_id), (1, by_data)],
            [(0,), (1, by_id), (2, by_data)],
            1,
            "a new order has the id of an old one",
            {},
        ),
        ("id-0", "SRT002", [(0, by_id)], [(3, by_id)], 0, "a new order has the id of the unsorted one", {}),
        ("default-gone", "TMD020", [(0,), (1, by_id)], [(0,), (2, by_id)], 2, "the default order was removed", {}),
        (
            "source-dropped",
            "PAR004",
            [(0,), (1, by_id), (2, by_data)],
            [(0,), (2, by_data), (1, by_id)],
            2,
            "the default order sorts by a column that was dropped",
            dropped,
        ),
    ):
        edits = {**more, "/default-sort-order-id": default}
        valid = {**edits, "/default-sort-order-id": near[-1][0] if more or name == "id-0" else default}
        yield Case(
            f"order-evolved-{name}",
            "v2-minimal",
            (code,),
            {**edits, "/sort-orders": _orders(orders)},
            EITHER,
            note,
            valid_edits={**valid, "/sort-orders": _orders(near)},
            contradictions=("E17", "E22"),
        )


def _orders(orders: list[Any]) -> list[Document]:
    return [{"order-id": order_id, "fields": list(fields)} for order_id, *fields in orders]


def cases() -> Iterator[Case]:
    """Yield all cases of the module."""
    yield from form()
    yield from ids()
    yield from sources()
    yield from transforms()
    yield from evolved_orders()
