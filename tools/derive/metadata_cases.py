"""Documents with one broken rule: the document, its format version, and the fields of table metadata.

A row has the change of a valid document, the requirements that it breaks, and the outcome for a reader. Reading has to
fail if the JSON does not have the form of Appendix C, or if it is unclear what the table contains. The other rules bind
writers: a reader may refuse the document or continue, and the complete check reports the rule (contradiction E17).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tools.derive.metadata import DROP
from tools.derive.metadata_bases import DAY, FIRST, LOCATION, SECOND

REFUSED, EITHER, READ = "refused", "either", "read"
"""The outcomes: a reader has to refuse, may do either, or has to read."""


@dataclass(frozen=True)
class Case:
    """A valid document with one change."""

    id: str
    base: str
    codes: tuple[str, ...]
    """What a complete check finds."""

    edits: Mapping[str, Any]
    outcome: str
    note: str
    valid_edits: Mapping[str, Any] | None = None
    """The edits that make the nearest valid document; None if that is the base itself."""

    contradictions: tuple[str, ...] = ()
    """Contradictions that the outcome depends on."""

    further_codes: tuple[str, ...] = ()
    """Further requirements that the case is about, which the check does not distinguish."""


def rows(
    prefix: str,
    base: str,
    table: list[tuple[str, tuple[str, ...] | str, Mapping[str, Any], str, str]],
    contradictions: tuple[str, ...] = (),
) -> Iterator[Case]:
    """Yield cases from rows of (name, codes, edits, outcome, note); all outcomes depend on the same contradictions."""
    for name, codes, edits, outcome, note in table:
        of_case = (codes,) if isinstance(codes, str) else codes
        yield Case(f"{prefix}-{name}", base, of_case, edits, outcome, note, contradictions=contradictions)


# The text of a document: name, text, outcome, note, contradictions.

TEXTS: list[tuple[str, str, str, str, tuple[str, ...]]] = [
    ("empty", "", REFUSED, "the document is missing", ()),
    ("spaces", " \n", REFUSED, "the document is missing", ()),
    ("cut-off", '{"format-version": 2, "location": "s3://b', REFUSED, "the text ends inside a string", ()),
    ("trailing-comma", '{"format-version": 2,}', REFUSED, "a comma before the end of an object", ()),
    ("single-quotes", "{'format-version': 2}", REFUSED, "strings in single quotes", ()),
    ("comment", '{"format-version": 2 /* two */}', REFUSED, "a comment", ()),
    ("bare-names", "{format-version: 2}", REFUSED, "names without quotes", ()),
    ("xml", "<metadata/>", REFUSED, "another format", ()),
    ("list", "[]", REFUSED, "a list", ()),
    ("null", "null", REFUSED, "null", ()),
    ("number", "2", REFUSED, "a number", ()),
    ("string", '"s3://b/wh/data.db/table"', REFUSED, "a string", ()),
    ("leading-zero", '{"format-version": 02}', REFUSED, "a number with a leading zero", ()),
    ("hexadecimal", '{"format-version": 0x2}', REFUSED, "a number in hexadecimal", ()),
]


# The format version: name, value, outcome, note, contradictions.

VERSIONS: list[tuple[str, Any, str, str, tuple[str, ...]]] = [
    ("99", 99, REFUSED, "higher than any version", ()),
    ("4", 4, EITHER, "4 is a draft, which an implementation may support", ("A28", "E17")),
    ("0", 0, REFUSED, "there is no version 0", ()),
    ("minus-1", -1, REFUSED, "a negative version", ()),
    ("string", "2", REFUSED, "a string", ()),
    ("null", None, REFUSED, "null", ()),
    ("true", True, REFUSED, "a boolean", ()),
    ("fraction", 2.5, REFUSED, "not an integer", ()),
    ("list", [2], REFUSED, "a list", ()),
    ("float", 2.0, EITHER, "the integer 2 with a point", ("E5",)),
]


def versions() -> Iterator[Case]:
    """Yield cases of invalid values of format-version."""
    yield Case(
        "version-missing",
        "v2-minimal",
        ("TMD001",),
        {"/format-version": DROP},
        REFUSED,
        "no format version",
        further_codes=("VER001",),
    )
    for name, value, outcome, note, why in VERSIONS:
        yield Case(
            f"version-{name}",
            "v2-minimal",
            ("TMD001",),
            {"/format-version": value},
            outcome,
            note,
            contradictions=why,
            further_codes=("VER001",),
        )


# Missing fields: name, code. What v1 may leave out, a reader of later versions may fill in as v1 does (VER008).

V1_REQUIRED = (
    ("location", "TMD003", REFUSED),
    ("last-updated-ms", "TMD005", EITHER),
    ("last-column-id", "TMD006", REFUSED),
    ("schema", "TMD007", REFUSED),
    ("partition-spec", "TMD010", EITHER),
)
V2_REQUIRED = (
    ("table-uuid", "TMD002", EITHER),
    ("location", "TMD003", REFUSED),
    ("last-sequence-number", "TMD004", EITHER),
    ("last-updated-ms", "TMD005", EITHER),
    ("last-column-id", "TMD006", REFUSED),
    ("schemas", "TMD008", REFUSED),
    ("current-schema-id", "TMD009", EITHER),
    ("partition-specs", "TMD011", EITHER),
    ("default-spec-id", "TMD012", EITHER),
    ("last-partition-id", "TMD013", EITHER),
    ("sort-orders", "TMD019", EITHER),
    ("default-sort-order-id", "TMD020", EITHER),
)
MISSING_NOTES = {
    REFUSED: "every version requires it, and nothing replaces it",
    EITHER: "v1 may leave it out, so a reader may fill it in or refuse",
}
WRITERS_ALONE = {"last-updated-ms": "only writers have to know it", "partition-spec": "only writers use it"}


def missing() -> Iterator[Case]:
    """Yield cases of missing required fields."""
    for name, code, outcome in V1_REQUIRED:
        note = WRITERS_ALONE.get(name, MISSING_NOTES[outcome])
        yield Case(f"v1-missing-{name}", "v1-minimal", (code,), {f"/{name}": DROP}, outcome, note)
    for name, code, _ in V1_REQUIRED[3:]:
        yield Case(
            f"v1-missing-{name}-beside-the-list",
            "v1-rich",
            (code,),
            {f"/{name}": DROP},
            EITHER,
            "deprecated in favour of the list, which is present",
        )
    for version in (2, 3):
        for name, code, outcome in V2_REQUIRED:
            note = WRITERS_ALONE.get(name, MISSING_NOTES[outcome])
            yield Case(
                f"v{version}-missing-{name}",
                f"v{version}-minimal",
                (code,),
                {f"/{name}": DROP},
                outcome,
                note,
                further_codes=("VER008",) if outcome == EITHER else (),
            )
    yield Case(
        "v3-missing-next-row-id",
        "v3-minimal",
        ("TMD024",),
        {"/next-row-id": DROP},
        EITHER,
        "older versions do not have it; a reader of rows needs none",
        further_codes=("VER008",),
    )
    for name, code in (("table-uuid", "TMD002"), ("partition-specs", "TMD011"), ("sort-orders", "TMD019")):
        yield Case(
            f"v2-null-{name}",
            "v2-minimal",
            (code,),
            {f"/{name}": None},
            EITHER,
            "a required field that is null is missing",
            further_codes=("VER008",),
        )
    for name, code in (("location", "TMD003"), ("schemas", "TMD008")):
        yield Case(
            f"v2-null-{name}",
            "v2-minimal",
            (code,),
            {f"/{name}": None},
            REFUSED,
            "a required field that is null is missing",
        )


# Fields of another JSON type: base, name, code, value, what it is.

KINDS: list[tuple[str, str, str, Any, str]] = [
    ("v2-minimal", "table-uuid", "TMD002", 5, "a number"),
    ("v2-minimal", "location", "TMD003", 5, "a number"),
    ("v2-minimal", "location", "TMD003", [LOCATION], "a list"),
    ("v2-minimal", "last-sequence-number", "TMD004", "0", "a string"),
    ("v2-minimal", "last-sequence-number", "TMD004", 1 << 63, "beyond-64-bits"),
    ("v2-minimal", "last-sequence-number", "TMD004", 0.5, "a fraction"),
    ("v2-minimal", "last-updated-ms", "TMD005", "2018-01-04T21:22:35.770Z", "a date"),
    ("v2-minimal", "last-updated-ms", "TMD005", 1515100955770.5, "a fraction"),
    ("v2-minimal", "last-updated-ms", "TMD005", True, "a boolean"),
    ("v2-minimal", "last-column-id", "TMD006", "2", "a string"),
    ("v2-minimal", "last-column-id", "TMD006", 1 << 31, "beyond-32-bits"),
    ("v2-minimal", "schemas", "TMD008", {}, "an object"),
    ("v2-minimal", "current-schema-id", "TMD009", "0", "a string"),
    ("v2-minimal", "partition-specs", "TMD011", {}, "an object"),
    ("v2-minimal", "default-spec-id", "TMD012", "0", "a string"),
    ("v2-minimal", "last-partition-id", "TMD013", "999", "a string"),
    ("v2-minimal", "last-partition-id", "TMD013", 1 << 31, "beyond-32-bits"),
    ("v2-minimal", "properties", "TMD014", [], "a list"),
    ("v2-minimal", "properties", "TMD014", "write.format.default=avro", "a string"),
    ("v2-minimal", "properties", "TMD014", {"commit.retry": {"num-retries": "4"}}, "an-object-in-it"),
    ("v2-small", "current-snapshot-id", "TMD015", str(SECOND), "a string"),
    ("v2-small", "current-snapshot-id", "TMD015", (1 << 64) + SECOND, "beyond-64-bits"),
    ("v2-small", "snapshots", "TMD016", {}, "an object"),
    ("v2-small", "snapshot-log", "TMD017", {}, "an object"),
    ("v2-rich", "metadata-log", "TMD018", {}, "an object"),
    ("v2-minimal", "sort-orders", "TMD019", {}, "an object"),
    ("v2-minimal", "default-sort-order-id", "TMD020", "0", "a string"),
    ("v2-small", "refs", "TMD021", [], "a list"),
    ("v3-small", "next-row-id", "TMD024", "120", "a string"),
    ("v3-small", "encryption-keys", "TMD025", {}, "an object"),
    ("v1-minimal", "schema", "JSC006", [], "a list"),
    ("v1-minimal", "partition-spec", "TMD010", {}, "an object"),
]


def kinds() -> Iterator[Case]:
    """Yield cases of fields whose JSON type is not that of Appendix C."""
    for base, name, code, value, what in KINDS:
        words = what.split()[-1] if what.startswith("a") and " " in what else what
        note = f"{name} is {what.replace('-', ' ')}"
        yield Case(f"{name}-{words}", base, (code,), {f"/{name}": value}, REFUSED, note, further_codes=("TMD029",))
    yield Case(
        "properties-number",
        "v2-rich",
        ("TMD014",),
        {"/properties/commit.retry.num-retries": 4},
        REFUSED,
        "a property is a number, not a string",
        further_codes=("TMD029",),
    )
    yield Case(
        "properties-null",
        "v2-rich",
        ("TMD014",),
        {"/properties/commit.retry.num-retries": None},
        EITHER,
        "a property is null, not a string",
        further_codes=("TMD029",),
    )
    for name, code, ignored in (("statistics", "TMD022", "STA007"), ("partition-statistics", "TMD023", "STA036")):
        yield Case(
            f"{name}-object",
            "v2-statistics",
            (code,),
            {f"/{name}": {}},
            EITHER,
            f"{name} is an object; readers may ignore it",
            further_codes=(ignored,),
        )


# Rules about several fields of table metadata.


def fields() -> Iterator[Case]:
    """Yield cases of ids and numbers that do not fit the content of the table, and of its logs."""
    yield from rows(
        "table",
        "v2-minimal",
        [
            ("uuid-text", "TMD002", {"/table-uuid": "table-1"}, EITHER, "the text is not a UUID"),
            ("uuid-empty", "TMD002", {"/table-uuid": ""}, EITHER, "the empty string is not a UUID"),
            (
                "uuid-short",
                "TMD002",
                {"/table-uuid": "fb072c92-a02b-11e9-ae9c-1bb7bc9eca9"},
                EITHER,
                "one digit less than a UUID has",
            ),
            (
                "last-column-id-low",
                "TMD006",
                {"/last-column-id": 1},
                EITHER,
                "field 2 is higher; the next column would get its id",
            ),
            ("current-schema-id-unknown", "TMD009", {"/current-schema-id": 1}, REFUSED, "no schema has the id"),
            ("current-schema-id-negative", "TMD009", {"/current-schema-id": -1}, REFUSED, "no schema has the id"),
            ("schemas-empty", "TMD009", {"/schemas": []}, REFUSED, "there is no schema to be the current one"),
            (
                "default-spec-id-unknown",
                "TMD012",
                {"/default-spec-id": 1},
                EITHER,
                "no spec has the id, which writers use",
            ),
            (
                "default-sort-order-id-unknown",
                "TMD020",
                {"/default-sort-order-id": 1},
                EITHER,
                "no order has the id, which writers use",
            ),
        ],
    )
    yield from rows(
        "table",
        "v2-nested",
        [
            (
                "last-column-id-below-element",
                "TMD006",
                {"/last-column-id": 7, "/schemas/0/fields/5": DROP},
                EITHER,
                "the element of the list has id 8",
            ),
            ("last-column-id-below-value", "TMD006", {"/last-column-id": 10}, EITHER, "the value of the map has id 11"),
            ("last-partition-id-low", "TMD013", {"/last-partition-id": 1000}, EITHER, "partition field 1001 is higher"),
            ("last-partition-id-zero", "TMD013", {"/last-partition-id": 0}, EITHER, "partition field 1001 is higher"),
        ],
    )
    yield from rows(
        "table",
        "v2-small",
        [
            (
                "last-sequence-number-low",
                "TMD004",
                {"/last-sequence-number": 1},
                EITHER,
                "the current snapshot has number 2",
            ),
            (
                "current-snapshot-id-unknown",
                "TMD015",
                {
                    "/current-snapshot-id": SECOND + 1,
                    "/refs": DROP,
                    "/snapshot-log": [],
                },
                REFUSED,
                "no snapshot has the id of the current one",
            ),
            (
                "main-elsewhere",
                "TMD015",
                {"/refs/main/snapshot-id": FIRST},
                REFUSED,
                "the main branch is at another snapshot than the table",
            ),
            (
                "main-without-current-snapshot",
                "TMD015",
                {"/current-snapshot-id": DROP, "/snapshot-log": []},
                REFUSED,
                "the main branch has a snapshot and the table has no current one",
            ),
        ],
    )
    yield Case(
        "snapshots-missing-current",
        "v2-small",
        ("TMD015", "TMD021"),
        {"/snapshots": DROP, "/snapshot-log": DROP, "/refs": {"main": {"snapshot-id": SECOND, "type": "branch"}}},
        REFUSED,
        "the table has a current snapshot and no snapshots",
        valid_edits={"/snapshots": DROP, "/snapshot-log": DROP, "/refs": DROP, "/current-snapshot-id": DROP},
    )
    yield from logs()


def logs() -> Iterator[Case]:
    """Yield cases of snapshot logs and metadata logs."""
    yield from rows(
        "snapshot-log",
        "v2-small",
        [
            ("entry-without-time", "TMD031", {"/snapshot-log/0/timestamp-ms": DROP}, REFUSED, "an entry has no time"),
            ("entry-without-snapshot", "TMD031", {"/snapshot-log/0/snapshot-id": DROP}, REFUSED, "an entry has no id"),
            ("time-string", "TMD031", {"/snapshot-log/0/timestamp-ms": "1515100955770"}, REFUSED, "a time is a string"),
            ("snapshot-string", "TMD031", {"/snapshot-log/0/snapshot-id": str(FIRST)}, REFUSED, "an id is a string"),
            ("entry-number", "TMD031", {"/snapshot-log/0": FIRST}, REFUSED, "an entry is a number"),
            (
                "reversed",
                "TMD017",
                {"/snapshot-log/0/timestamp-ms": 1515187355770 + DAY},
                EITHER,
                "an entry is later than the one after it",
            ),
            (
                "end",
                "TMD017",
                {"/snapshot-log/-": {"timestamp-ms": 1515187355771, "snapshot-id": FIRST}},
                EITHER,
                "the last entry is not the current snapshot",
            ),
            (
                "expired",
                "TMD017",
                {"/snapshot-log/0/snapshot-id": 1},
                EITHER,
                "the entry of a snapshot that has expired, which should have been removed",
            ),
        ],
    )
    yield from rows(
        "metadata-log",
        "v2-rich",
        [
            ("entry-without-file", "TMD032", {"/metadata-log/0/metadata-file": DROP}, REFUSED, "an entry has no file"),
            ("entry-without-time", "TMD032", {"/metadata-log/0/timestamp-ms": DROP}, REFUSED, "an entry has no time"),
            ("file-number", "TMD032", {"/metadata-log/0/metadata-file": 1}, REFUSED, "a file is a number"),
        ],
    )
    later = {"timestamp-ms": 1515100955769, "metadata-file": f"{LOCATION}/metadata/v2.json"}
    yield Case(
        "metadata-log-reversed",
        "v2-rich",
        ("TMD018",),
        {"/metadata-log/-": later},
        EITHER,
        "an entry is earlier than the one before it",
        valid_edits={"/metadata-log/-": {**later, "timestamp-ms": 1515100955771}},
    )


def cases() -> Iterator[Case]:
    """Yield all cases of the module."""
    yield from versions()
    yield from missing()
    yield from kinds()
    yield from fields()
