"""Who judges the examples of requirements: for each kind that a row may name, the codes that an example breaks.

An example is in the register as people read it, and most are fragments: what a fragment does not tell is taken
from a small sound table, manifest, list or Puffin file of the highest version that the requirement holds in. Objects
are laid over those of the sound document member by member, and lists of objects item by item.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterable

from sound_documents import (
    BY_DAY,
    COLUMNS,
    ENTRY,
    EVOLVING,
    FOOTER,
    LISTED,
    MAGIC,
    PARTITION_STATISTICS,
    POSITIONS,
    SCHEMA,
    SPEC,
    STATISTICS,
    VECTOR,
    overlaid,
    sound_metadata,
)

from conformance.engines.reference.adapter import operations
from conformance.operations.manifests.wire import entry_from_form, listed_from_form, read_table_schema
from spec_ref.avro_mapping.stored_types import type_from_avro
from spec_ref.core.errors import SpecError
from spec_ref.core.json_types import Json
from spec_ref.core.versions import V3, FormatVersion
from spec_ref.data_types.promotion import is_promotable
from spec_ref.deletes.deletion_vector import decode_deletion_vector
from spec_ref.encodings.avro.container import open_container, write_container
from spec_ref.encodings.avro.types import from_json
from spec_ref.encodings.variant.json_path import parse_normalized_path
from spec_ref.expressions.expression_json import predicate_from_json
from spec_ref.manifest_lists.checks import check_manifest_list
from spec_ref.manifest_lists.manifest_file import ManifestContent
from spec_ref.manifest_lists.writer import write_manifest_list
from spec_ref.manifests import check_manifest, write_manifest
from spec_ref.requirements import Requirement
from spec_ref.schemas.name_mapping import read_name_mapping
from spec_ref.schemas.type_json import type_from_json, type_to_json
from spec_ref.statistics.puffin_checks import check_puffin
from spec_ref.table_metadata import check_metadata


def _metadata(text: str, rule: Requirement) -> Iterable[str]:
    fragment = json.loads(text)
    stated = fragment.get("format-version") if isinstance(fragment, dict) else None
    version = FormatVersion(stated) if stated in (1, 2, 3) else max(rule.versions)
    document = overlaid(sound_metadata(version), fragment)
    return [finding.requirement for finding in check_metadata(json.dumps(document).encode())]


def _statistics(text: str, rule: Requirement) -> Iterable[str]:
    """A table statistics file of the current snapshot."""
    return _metadata(json.dumps({"statistics": [overlaid(STATISTICS, json.loads(text))]}), rule)


def _partition_statistics(text: str, rule: Requirement) -> Iterable[str]:
    """A partition statistics file of the current snapshot."""
    return _metadata(json.dumps({"partition-statistics": [overlaid(PARTITION_STATISTICS, json.loads(text))]}), rule)


def _schema(text: str, rule: Requirement) -> Iterable[str]:
    """A whole schema, in a table that neither partitions nor sorts by any column."""
    metadata = dict(sound_metadata(max(rule.versions)))
    metadata |= {
        "last-column-id": 100,
        "schemas": [json.loads(text)],
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "last-partition-id": 999,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
    }
    if "schema" in metadata:
        metadata |= {"schema": json.loads(text), "partition-spec": []}
    return [finding.requirement for finding in check_metadata(json.dumps(metadata).encode())]


def _column(text: str, rule: Requirement) -> Iterable[str]:
    """One column or several, beside the column ``id`` of id 1."""
    columns = json.loads(text)
    fields = [COLUMNS[0], *(columns if isinstance(columns, list) else [columns])]
    return _schema(json.dumps({"type": "struct", "schema-id": 0, "fields": fields}), rule)


def parts(text: str) -> list[str]:
    """The single examples of a text with several."""
    return text.split("; ")


def _types(text: str, rule: Requirement) -> Iterable[str]:
    return [code for part in parts(text) for code in _refused(lambda part=part: type_from_json(json.loads(part)))]  # type: ignore[misc]


def _refused(read: Callable[[], object]) -> list[str]:
    try:
        read()
    except SpecError as error:
        return [error.violation.requirement]
    return []


def _manifest(entry: Json, version: FormatVersion) -> bytes:
    schema, specs = read_table_schema(SCHEMA, [SPEC])
    content = ManifestContent(1 if entry["data_file"].get("content") else 0)
    made = entry_from_form(entry, specs[0].partition_type(schema))
    return write_manifest([made], specs[0], schema, version, content)


def _checked(data: bytes) -> Iterable[str]:
    schema, specs = read_table_schema(SCHEMA, [SPEC])
    return [finding.requirement for finding in check_manifest(data, specs=specs, schema=schema)]


def _entry(text: str, rule: Requirement) -> Iterable[str]:
    fragment = json.loads(text)
    document = ENTRY
    if fragment.get("data_file", {}).get("file_format") == "puffin":
        document = overlaid(ENTRY, {"data_file": VECTOR})
    try:
        data = _manifest(overlaid(document, fragment), max(rule.versions))
    except SpecError as error:
        return [error.violation.requirement]
    return _checked(data)


def _header(text: str, rule: Requirement) -> Iterable[str]:
    """Keys and values of a manifest's header; null leaves a key out."""
    container = open_container(_manifest(ENTRY, max(rule.versions)), "MAN001")
    document = json.loads(text)
    header = {**container.metadata, **document}
    kept = {key: value for key, value in header.items() if value is not None}
    return _checked(write_container(kept, container.payloads(), codec="null", sync=container.sync))


def _listed(text: str, rule: Requirement) -> Iterable[str]:
    """The entry of a manifest in a manifest list, or a list of entries."""
    fragment, version = json.loads(text), max(rule.versions)
    _, specs = read_table_schema(SCHEMA, [SPEC])
    entries = [overlaid(LISTED, one) for one in (fragment if isinstance(fragment, list) else [fragment])]
    try:
        data = write_manifest_list([listed_from_form(one) for one in entries], version)
    except SpecError as error:
        return [error.violation.requirement]
    first = 10 if version >= V3 else None
    return [found.requirement for found in check_manifest_list(data, version, specs=specs, first_row_id=first)]


def _puffin(text: str, rule: Requirement) -> Iterable[str]:
    """The footer's payload of a file with one deletion vector."""
    payload = json.dumps(overlaid(FOOTER, json.loads(text))).encode()
    tail = struct.pack("<iI4s", len(payload), 0, MAGIC)
    return [one.requirement for one in check_puffin(MAGIC + POSITIONS + MAGIC + payload + tail)]


def _hex(text: str) -> bytes:
    return bytes.fromhex(text.replace(" ", ""))


def _puffin_bytes(text: str, rule: Requirement) -> Iterable[str]:
    return [one.requirement for one in check_puffin(_hex(text)) if one.requirement != "PUF025"]


def _deletion_vector(text: str, rule: Requirement) -> Iterable[str]:
    return _refused(lambda: decode_deletion_vector(_hex(text)))


def _predicate(text: str, rule: Requirement) -> Iterable[str]:
    return _refused(lambda: predicate_from_json(json.loads(text)))


def _mapping(text: str, rule: Requirement) -> Iterable[str]:
    return _refused(lambda: read_name_mapping(json.loads(text)))


def _paths(text: str, rule: Requirement) -> Iterable[str]:
    return [code for part in parts(text) for code in _refused(lambda part=part: parse_normalized_path(part))]  # type: ignore[misc]


def _promotions(text: str, rule: Requirement) -> Iterable[str]:
    """``OLD to NEW``; any promotion that the version does not know breaks the rule."""
    for part in parts(text):
        old, new = (type_from_json(one) for one in part.split(" to "))
        if not is_promotable(old, new, max(rule.versions)):
            yield rule.code


def _column_change(text: str, rule: Requirement) -> Iterable[str]:
    """A change of a table that is partitioned by the date ``day``, in the form of the operation ``schema.evolve``."""
    question = {
        "schema": {"type": "struct", "schema-id": 0, "fields": EVOLVING},
        "format_version": int(max(rule.versions)),
        "last_column_id": 2,
        "partition_fields": BY_DAY,
        "changes": [json.loads(text)],
    }
    return _refused(lambda: operations()["schema.evolve"](question))


def _avro_types(text: str, rule: Requirement) -> Iterable[str]:
    """``AVRO is TYPE``; another type, or a refusal, breaks the rule."""
    for part in parts(text):
        avro, stated = part.split(" is ")
        try:
            found = type_to_json(type_from_avro(from_json(json.loads(avro), rule.code)))
        except SpecError:
            yield rule.code
            continue
        if found != json.loads(stated):
            yield rule.code


QUESTION = re.compile(r"(?P<name>[a-z]+)(?P<width>\[\d+\])?\((?P<type>[a-z_]+(?:\(.+?\)|\[\d+\])?) (?P<value>.+)\)")
NAMES = {
    "bound": "bound.encode",
    "hash": "hash",
    "bytes": "single-value.encode",
    "value": "single-value.decode",
    "json": "json-value.round-trip",
}
VALUE = {"bytes": "value", "value": "bytes", "json": "json"}


def _answer(question: str) -> Json:
    asked = QUESTION.fullmatch(question)
    assert asked is not None, f"no question: {question}"
    name, type_, value = asked["name"], json.loads(json.dumps(asked["type"])), json.loads(asked["value"])
    if name in NAMES:
        return operations()[NAMES[name]]({"type": type_, VALUE.get(name, "value"): value})
    transform = name + (asked["width"] or "")
    return operations()["transform"]({"transform": transform, "type": type_, "value": value})


def _answers(text: str, rule: Requirement) -> Iterable[str]:
    """``QUESTION = ANSWER``; a wrong answer, and any answer to what has none, breaks the rule."""
    for part in parts(text):
        question, stated = part.rsplit(" = ", 1)
        try:
            answer = _answer(question)
        except SpecError as error:
            yield error.violation.requirement
            continue
        if answer != json.loads(stated) or type(answer) is not type(json.loads(stated)):
            yield rule.code


COMPARISON = re.compile(
    r"(?P<type>[a-z_0-9(), ]+): (?P<left>.+) (?P<sign>=|!=|<|<=|>|>=) (?P<right>.+) is (?P<result>true|false)"
)
SIGNS = {"=": "eq", "!=": "not-eq", "<": "lt", "<=": "lt-eq", ">": "gt", ">=": "gt-eq"}


def _comparisons(text: str, rule: Requirement) -> Iterable[str]:
    """``TYPE: VALUE = VALUE is true``, for values of two columns of one type."""
    for part in parts(text):
        asked = COMPARISON.fullmatch(part)
        assert asked is not None, f"no comparison: {part}"
        names = (("a", asked["left"]), ("b", asked["right"]))
        columns = [
            {"id": place, "name": name, "required": False, "type": asked["type"]}
            for place, (name, _) in enumerate(names, start=1)
        ]
        left, right = ({"type": "reference", "name": name} for name, _ in names)
        question = {
            "schema": {"type": "struct", "schema-id": 0, "fields": columns},
            "predicate": {"type": SIGNS[asked["sign"]], "left": left, "right": right},
            "row": {str(place): json.loads(value) for place, (_, value) in enumerate(names, start=1)},
        }
        if operations()["expression.evaluate"](question) is not json.loads(asked["result"]):
            yield rule.code


JUDGES: dict[str, Callable[[str, Requirement], Iterable[str]]] = {
    "answers": _answers,
    "avro-types": _avro_types,
    "column": _column,
    "column-change": _column_change,
    "comparisons": _comparisons,
    "deletion-vector": _deletion_vector,
    "listed-manifest": _listed,
    "manifest-entry": _entry,
    "manifest-header": _header,
    "metadata": _metadata,
    "name-mapping": _mapping,
    "partition-statistics": _partition_statistics,
    "paths": _paths,
    "predicate": _predicate,
    "promotions": _promotions,
    "puffin-bytes": _puffin_bytes,
    "puffin-footer": _puffin,
    "schema": _schema,
    "statistics": _statistics,
    "types": _types,
}


def codes(kind: str, text: str, rule: Requirement) -> list[str]:
    """The codes that an example of a requirement breaks, each once."""
    return sorted(set(JUDGES[kind](text, rule)))
