"""Documents with one broken rule: schemas, types, defaults, identifier fields, and the history of fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive.metadata import DROP, Document
from tools.derive.metadata_bases import ID
from tools.derive.metadata_cases import EITHER, REFUSED, Case, rows
from tools.derive.metadata_cases_schema_history import history

LIST, MAP = "/schemas/0/fields/4/type", "/schemas/0/fields/5/type"
"""The places of the list and the map in the base v2-nested."""


def form() -> Iterator[Case]:
    """Yield cases of schemas and fields that do not have the form of Appendix C."""
    yield from rows(
        "schema",
        "v2-minimal",
        [
            ("number", "JSC006", {"/schemas/0": 0}, REFUSED, "a schema is a number"),
            ("fields-missing", "JSC006", {"/schemas/0/fields": DROP}, REFUSED, "a schema has no fields"),
            ("fields-object", "JSC006", {"/schemas/0/fields": {}}, REFUSED, "the fields are an object"),
            ("type-list", "JSC006", {"/schemas/0/type": "list"}, REFUSED, "a schema is a struct"),
            ("type-missing", "JSC006", {"/schemas/0/type": DROP}, EITHER, "a schema does not say that it is a struct"),
            ("schema-id-missing", "JSC001", {"/schemas/0/schema-id": DROP}, EITHER, "v1 may leave schema-id out"),
            ("schema-id-string", "JSC001", {"/schemas/0/schema-id": "0"}, REFUSED, "a schema-id is a string"),
            (
                "identifiers-number",
                "JSC002",
                {"/schemas/0/identifier-field-ids": 1},
                REFUSED,
                "identifier-field-ids is not a list",
            ),
            (
                "identifiers-names",
                "JSC002",
                {"/schemas/0/identifier-field-ids": ["id"]},
                REFUSED,
                "identifier-field-ids holds names",
            ),
            ("field-string", "JSC006", {"/schemas/0/fields/0": "id"}, REFUSED, "a field is a string"),
            ("field-without-id", "TYP002", {"/schemas/0/fields/0/id": DROP}, REFUSED, "a field has no id"),
            ("field-without-name", "TYP002", {"/schemas/0/fields/0/name": DROP}, REFUSED, "a field has no name"),
            (
                "field-without-required",
                "TYP002",
                {"/schemas/0/fields/0/required": DROP},
                REFUSED,
                "a field does not say whether it is required",
            ),
            ("field-without-type", "TYP002", {"/schemas/0/fields/0/type": DROP}, REFUSED, "a field has no type"),
            ("field-id-string", "TYP002", {"/schemas/0/fields/0/id": "1"}, REFUSED, "the id of a field is a string"),
            ("field-id-fraction", "TYP002", {"/schemas/0/fields/0/id": 1.5}, REFUSED, "a field id is not an integer"),
            ("field-id-long", "TYP002", {"/schemas/0/fields/0/id": 1 << 31}, REFUSED, "the id of a field has 32 bits"),
            (
                "field-name-number",
                "TYP002",
                {"/schemas/0/fields/0/name": 1},
                REFUSED,
                "the name of a field is a number",
            ),
            ("field-name-null", "TYP002", {"/schemas/0/fields/0/name": None}, REFUSED, "the name of a field is null"),
            (
                "field-required-string",
                "TYP002",
                {"/schemas/0/fields/0/required": "true"},
                REFUSED,
                "whether a field is required is a string",
            ),
            ("field-doc-number", "TYP002", {"/schemas/0/fields/1/doc": 1}, REFUSED, "the doc of a field is a number"),
            ("type-number", "JSC003", {"/schemas/0/fields/0/type": 64}, REFUSED, "a type is a number"),
            ("type-unknown-name", "JSC003", {"/schemas/0/fields/0/type": "bigint"}, REFUSED, "no type has the name"),
            ("type-empty", "JSC003", {"/schemas/0/fields/0/type": ""}, REFUSED, "no type has the name"),
            (
                "type-decimal-39",
                "TYP013",
                {"/schemas/0/fields/0/type": "decimal(39, 2)"},
                REFUSED,
                "a decimal has at most 38 digits",
            ),
            (
                "type-decimal-bare",
                "JSC003",
                {"/schemas/0/fields/0/type": "decimal"},
                REFUSED,
                "a decimal has a precision and a scale",
            ),
            (
                "type-fixed-negative",
                "JSC003",
                {"/schemas/0/fields/0/type": "fixed[-1]"},
                REFUSED,
                "the length of a fixed is negative",
            ),
        ],
    )
    yield from rows(
        "schema",
        "v2-nested",
        [
            ("list-without-element", "JSC007", {f"{LIST}/element": DROP}, REFUSED, "a list has no element"),
            ("list-without-element-id", "JSC007", {f"{LIST}/element-id": DROP}, REFUSED, "an element has no id"),
            (
                "list-without-element-required",
                "JSC007",
                {f"{LIST}/element-required": DROP},
                REFUSED,
                "an element does not say whether it is required",
            ),
            (
                "list-element-id-string",
                "JSC007",
                {f"{LIST}/element-id": "8"},
                REFUSED,
                "the id of an element is a string",
            ),
            ("map-without-key", "JSC007", {f"{MAP}/key": DROP}, REFUSED, "a map has no key"),
            ("map-without-key-id", "JSC007", {f"{MAP}/key-id": DROP}, REFUSED, "a key has no id"),
            ("map-without-value", "JSC007", {f"{MAP}/value": DROP}, REFUSED, "a map has no value"),
            ("map-without-value-id", "JSC007", {f"{MAP}/value-id": DROP}, REFUSED, "a value has no id"),
            (
                "map-without-value-required",
                "JSC007",
                {f"{MAP}/value-required": DROP},
                REFUSED,
                "a value does not say whether it is required",
            ),
            (
                "struct-without-fields",
                "JSC006",
                {"/schemas/0/fields/3/type/fields": DROP},
                REFUSED,
                "a nested struct has no fields",
            ),
            ("nested-type-unknown-name", "JSC003", {f"{LIST}/element": "text"}, REFUSED, "no type has the name"),
            ("nested-kind-unknown", "JSC003", {f"{LIST}/type": "set"}, REFUSED, "no nested type has the name"),
        ],
    )


def ids() -> Iterator[Case]:
    """Yield cases of invalid ids and names."""
    yield from rows(
        "ids",
        "v2-nested",
        [
            (
                "nested-field-twice",
                "TYP002",
                {"/schemas/0/fields/3/type/fields/0/id": 2},
                REFUSED,
                "a nested field has the id of a column",
            ),
            ("element-twice", "TYP002", {f"{LIST}/element-id": 7}, REFUSED, "an element has the id of its list"),
            ("key-and-value", "TYP002", {f"{MAP}/value-id": 10}, REFUSED, "a key and its value have the same id"),
            ("value-of-column", "TYP002", {f"{MAP}/value-id": 2}, REFUSED, "a value has the id of a column"),
        ],
    )
    yield from rows(
        "ids",
        "v2-minimal",
        [
            ("field-twice", "TYP002", {"/schemas/0/fields/1/id": 1}, REFUSED, "two columns have id 1"),
            ("names-twice", "TYP002", {"/schemas/0/fields/1/name": "id"}, EITHER, "two columns have the same name"),
            (
                "schemas-twice",
                "TMD008",
                {"/schemas/-": {"type": "struct", "schema-id": 0, "fields": [ID]}},
                REFUSED,
                "two schemas have the current id",
            ),
        ],
    )
    yield Case(
        "ids-reserved",
        "v2-minimal",
        ("RES001",),
        {"/schemas/0/fields/1/id": 2147483448, "/last-column-id": 2147483448},
        EITHER,
        "the lowest reserved id",
        valid_edits={"/schemas/0/fields/1/id": 2147483447, "/last-column-id": 2147483447},
    )
    yield Case(
        "ids-reserved-pos",
        "v2-minimal",
        ("RES001",),
        {"/schemas/0/fields/1/id": 2147483645, "/last-column-id": 2147483645},
        EITHER,
        "the id of _pos",
        valid_edits={"/schemas/0/fields/1/id": 1000, "/last-column-id": 1000},
    )


IDENTIFIERS: list[tuple[str, str, int, dict[str, Any], str]] = [
    ("struct", "IDF001", 4, {}, "a struct"),
    ("list", "IDF001", 7, {}, "a list"),
    ("missing", "IDF001", 12, {}, "no field has the id"),
    ("element", "IDF002", 8, {}, "the element of a list"),
    ("key", "IDF002", 10, {}, "the key of a map"),
    ("value", "IDF002", 11, {}, "the value of a map"),
    ("optional", "IDF003", 2, {}, "an optional field"),
    ("in-optional-struct", "IDF003", 5, {}, "a field in an optional struct"),
    ("double", "IDF003", 6, {"/schemas/0/fields/3/required": True}, "a double"),
]


def identifiers() -> Iterator[Case]:
    """Yield cases of fields that cannot identify rows."""
    for name, code, field_id, edits, note in IDENTIFIERS:
        yield Case(
            f"identifier-{name}",
            "v2-nested",
            (code,),
            {**edits, "/schemas/0/identifier-field-ids": [field_id]},
            EITHER,
            note,
            valid_edits={**edits, "/schemas/0/identifier-field-ids": [3]}
            if not edits
            else {**edits, "/schemas/0/identifier-field-ids": [5]},
        )
    yield Case(
        "identifier-float",
        "v2-minimal",
        ("IDF003",),
        {"/schemas/0/fields/0/type": "float", "/schemas/0/identifier-field-ids": [1]},
        EITHER,
        "a float",
        valid_edits={"/schemas/0/fields/0/type": "int", "/schemas/0/identifier-field-ids": [1]},
    )
    yield Case(
        "identifier-variant",
        "v3-minimal",
        ("IDF001",),
        {"/schemas/0/fields/0/type": "variant", "/schemas/0/identifier-field-ids": [1]},
        EITHER,
        "a variant, which is not primitive",
        valid_edits={"/schemas/0/fields/0/type": "string", "/schemas/0/identifier-field-ids": [1]},
        further_codes=("TYP007",),
    )


NEW_TYPES = (
    "unknown",
    "timestamp_ns",
    "timestamptz_ns",
    "variant",
    "geometry(srid:4326)",
    "geography(srid:4326, karney)",
)


def versions() -> Iterator[Case]:
    """Yield cases of types and defaults that are newer than the table."""
    for type_ in NEW_TYPES:
        name = type_.split("(")[0].replace("_", "-")
        for version in (1, 2):
            place = "/schema" if version == 1 else "/schemas/0"
            yield Case(
                f"v{version}-type-{name}",
                f"v{version}-minimal",
                ("VER004",),
                {f"{place}/fields/1/type": type_},
                EITHER,
                f"{name} came with v3",
            )
    yield Case(
        "v2-type-in-list",
        "v2-nested",
        ("VER004",),
        {f"{LIST}/element": "timestamp_ns"},
        EITHER,
        "the element of a list is of a type that came with v3",
    )
    yield Case(
        "v2-initial-default",
        "v2-minimal",
        ("VER005",),
        {"/schemas/0/fields/1/initial-default": "none"},
        EITHER,
        "default values came with v3",
        contradictions=("C20", "E18"),
    )
    yield Case(
        "v2-write-default",
        "v2-minimal",
        ("VER005",),
        {"/schemas/0/fields/1/write-default": "none"},
        EITHER,
        "default values came with v3",
        contradictions=("C20", "E18"),
    )


def _default(name: str, codes: tuple[str, ...], type_: Any, default: Any, near: Any, outcome: str, note: str) -> Case:
    """Return a case of a field of v3 whose default is invalid; ``near`` is a valid one."""
    place = "/schemas/0/fields/1"
    return Case(
        f"default-{name}",
        "v3-minimal",
        codes,
        {f"{place}/type": type_, f"{place}/initial-default": default, f"{place}/write-default": default},
        outcome,
        note,
        valid_edits={
            f"{place}/type": type_,
            **({} if near is None else {f"{place}/initial-default": near, f"{place}/write-default": near}),
        },
    )


POINT: Document = {"type": "struct", "fields": [{"id": 3, "name": "x", "required": False, "type": "int"}]}


def defaults() -> Iterator[Case]:
    """Yield cases of defaults that their column's type does not allow."""
    yield _default("unknown", ("DEF008",), "unknown", 1, None, EITHER, "an unknown defaults to null")
    yield _default("variant", ("DEF008",), "variant", 1, None, EITHER, "a variant defaults to null")
    yield _default(
        "geometry", ("DEF008",), "geometry(srid:4326)", "POINT (30 10)", None, EITHER, "a geometry defaults to null"
    )
    yield _default(
        "geography",
        ("DEF008",),
        "geography(srid:4326, karney)",
        "POINT (30 10)",
        None,
        EITHER,
        "a geography defaults to null",
    )
    yield _default("string-number", ("SVJ009",), "string", 34, "34", REFUSED, "the default of a string is a number")
    yield _default("int-string", ("SVJ001",), "int", "34", 34, REFUSED, "the default of an int is a string")
    yield _default(
        "int-too-large",
        ("TYP009",),
        "int",
        1 << 31,
        (1 << 31) - 1,
        REFUSED,
        "the default of an int has more than 32 bits",
    )
    yield _default(
        "boolean-number",
        ("SVJ001",),
        "boolean",
        1,
        near=True,
        outcome=REFUSED,
        note="the default of a boolean is a number",
    )
    yield _default(
        "date-number", ("SVJ003",), "date", 17486, "2017-11-16", REFUSED, "the default of a date is a number"
    )
    yield _default("date-month-13", ("SVJ003",), "date", "2017-13-16", "2017-12-16", REFUSED, "no date has month 13")
    yield _default(
        "decimal-number", ("SVJ002",), "decimal(9, 2)", 14.2, "14.20", REFUSED, "the default of a decimal is a number"
    )
    yield _default(
        "uuid-text",
        ("SVJ006",),
        "uuid",
        "f79c3e09",
        "f79c3e09-677c-4bbd-a479-3f349cb785e7",
        REFUSED,
        "the default of a uuid is not a UUID",
    )
    yield _default(
        "fixed-length",
        ("TYP023",),
        "fixed[4]",
        "000102",
        "000102ff",
        REFUSED,
        "the default of a fixed of 4 bytes has 3",
    )
    point: Document = {"/last-column-id": 3, "/schemas/0/fields/1/type": POINT}
    yield Case(
        "default-struct-with-fields",
        "v3-minimal",
        ("DEF009",),
        {**point, "/schemas/0/fields/1/initial-default": {"3": 0}, "/schemas/0/fields/1/write-default": {"3": 0}},
        EITHER,
        "the default of a struct has values of its fields",
        valid_edits={**point, "/schemas/0/fields/1/initial-default": {}, "/schemas/0/fields/1/write-default": {}},
        contradictions=("A12", "E17"),
    )
    yield Case(
        "required-unknown",
        "v3-minimal",
        ("TYP025",),
        {"/schemas/0/fields/1/type": "unknown", "/schemas/0/fields/1/required": True},
        EITHER,
        "a column of type unknown is optional",
        valid_edits={"/schemas/0/fields/1/type": "unknown"},
    )


def cases() -> Iterator[Case]:
    """Yield all cases of the module."""
    yield from form()
    yield from ids()
    yield from identifiers()
    yield from versions()
    yield from defaults()
    yield from history()
