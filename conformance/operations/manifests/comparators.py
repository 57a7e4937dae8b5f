"""Compare answers about manifests and manifest lists.

Null and empty are equal, hexadecimal digits may have either case, and partition values are compared as values of their
types. A written file may have any codec, column names and column order: it is checked against the rules that bind
writers, then read, and its content is compared. Reading needs numpy, which is imported only when a file is compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from conformance.core.lazy_imports import lazy_imports
from conformance.operations.comparison import (
    MAX_DIFFERENCES,
    Comparator,
    Differences,
    Undecodable,
    json_differences,
    unordered_comparator,
)
from spec_ref.core.errors import SpecError

with lazy_imports():
    from conformance.operations import wire as value_wire
    from conformance.operations.manifests import wire
    from spec_ref import manifests, requirements
    from spec_ref.checks import findings
    from spec_ref.core import versions
    from spec_ref.manifest_lists import checks, reader


Form = dict[str, Any]

LONGS = frozenset(
    {
        "snapshot_id",
        "sequence_number",
        "file_sequence_number",
        "record_count",
        "file_size_in_bytes",
        "first_row_id",
        "content_offset",
        "content_size_in_bytes",
        "manifest_length",
        "min_sequence_number",
        "added_snapshot_id",
        "added_rows_count",
        "existing_rows_count",
        "deleted_rows_count",
        "split_offsets",
        "column_sizes",
        "value_counts",
        "null_value_counts",
        "nan_value_counts",
    }
)
"""Members that are longs or contain them: decimal strings; small JSON integers are accepted, too."""

BYTES = frozenset({"lower_bounds", "upper_bounds", "lower_bound", "upper_bound", "key_metadata"})


def _differences(expected: Any, got: Any) -> Differences:
    return tuple(islice(json_differences(expected, got), MAX_DIFFERENCES))


def _plain(value: Any, name: str = "") -> Any:
    """Return a value without nulls and empty members, with longs and bytes in their canonical spelling."""
    if isinstance(value, dict):
        members = {key: _plain(item, name if name in LONGS | BYTES else key) for key, item in value.items()}
        return {key: item for key, item in sorted(members.items()) if item is not None and item not in ([], {})}
    if isinstance(value, list):
        return [_plain(item, name) for item in value]
    if name in LONGS and type(value) is int:
        return str(value)
    if name in BYTES and isinstance(value, str):
        return None if name == "key_metadata" and not value else value.upper()
    return value


def _partition_types(args: Form) -> dict[str, Any]:
    try:
        schema, specs = wire.read_table_schema(args["schema"], args["specs"] if "specs" in args else [args["spec"]])
        spec_id = args["manifest_file"]["partition_spec_id"] if "manifest_file" in args else next(iter(specs))
        return {str(field.id): field.type for field in specs[spec_id].partition_type(schema).fields}
    except (SpecError, KeyError):
        return {}


def _convert_values(types: dict[str, Any], values: Form) -> Form:
    made = {}
    for field_id, value in values.items():
        try:
            type_ = types[field_id]
            made[field_id] = value_wire.to_exchange(type_, value_wire.from_exchange(type_, value))
        except (SpecError, KeyError):
            made[field_id] = value
    return made


def _select_members(form: Form, names: Iterable[str] | None) -> Form:
    return form if names is None else {name: member for name, member in form.items() if name in names}


def _entries(args: Form, form: Form) -> Form:
    """Return the manifest in canonical form, with only the members that the request selects."""
    names, types = args.get("select"), _partition_types(args)
    entries = []
    for entry in form["entries"]:
        data_file = dict(_select_members(entry.get("data_file", {}), names))
        if "partition" in data_file:
            data_file["partition"] = _convert_values(types, data_file["partition"] or {})
        members = {name: member for name, member in entry.items() if name != "data_file"}
        entries.append({**_plain(_select_members(members, names)), "data_file": _plain(data_file)})
    header = form.get("header", {}) if names is not None and "header" in names else {}
    return {"header": header, "entries": entries}


def compare_manifests(args: Form, expected: Form, got: Form) -> Differences:
    """Compare the entries of a manifest, or the selected members."""
    return _differences(_entries(args, expected), _entries(args, got))


def compare_manifest_lists(args: Form, expected: Form, got: Form) -> Differences:
    """Compare the manifests of a manifest list, or the selected members."""
    names = args.get("select")

    def form(answer: Form) -> list[Form]:
        return [_plain(_select_members(manifest, names)) for manifest in answer["manifests"]]

    return _differences(form(expected), form(got))


# Written files


def compare_written_manifests(args: Form, expected: str, got: str) -> Differences:
    """Check that a written manifest follows every rule that binds writers, and compare its content."""
    return _differences(_read_written(_manifest, args, expected, ours=True), _read_written(_manifest, args, got))


def compare_written_manifest_lists(args: Form, expected: str, got: str) -> Differences:
    """Check and compare a written manifest list, like `manifest_file`."""
    return _differences(_read_written(_list, args, expected, ours=True), _read_written(_list, args, got))


def _read_written(read: Any, args: Form, data: str, *, ours: bool = False) -> Form:
    try:
        form: Form = read(args, bytes.fromhex(data))
    except SpecError as error:
        if ours:
            raise
        raise Undecodable(f"the written file breaks a rule: {error}") from None
    return form


PARTITION_COLUMN = "/avro.schema/data_file/partition"


def _keeps_rules(found: Iterable[Any], *, columns: bool) -> None:
    """Raise the first broken rule; without ``columns``, ignore the Avro schema except for partition fields."""
    for one in found:
        passed = one.path.startswith("/avro.schema") and not one.path.startswith(PARTITION_COLUMN) and not columns
        if (
            one.severity is findings.Severity.ERROR
            and requirements.register()[one.requirement].level is requirements.RequirementLevel.MUST
            and not passed
        ):
            raise SpecError(one.violation)


def _drop_unsorted_order(entry: Form) -> Form:
    """Return an entry without the sort order 0, which means unsorted."""
    file = entry["data_file"]
    if file.get("sort_order_id") != 0:
        return entry
    return {**entry, "data_file": {name: value for name, value in file.items() if name != "sort_order_id"}}


def _manifest(args: Form, data: bytes) -> Form:
    schema, specs = wire.read_table_schema(args["schema"], [args["spec"]])
    (spec,) = specs.values()
    _keeps_rules(manifests.check_manifest(data, specs=specs, schema=schema), columns=args.get("check_columns", False))
    members = {name: args.get(name) for name in ("content", "sequence_number", "first_row_id")}
    listed = wire.listed_from_form(
        {**members, "added_snapshot_id": args["snapshot_id"], "partition_spec_id": spec.spec_id},
        manifest_path="m.avro",
        manifest_length=len(data),
    )
    manifest = manifests.read_manifest(data, manifest_file=listed, specs=specs)
    form = wire.manifest_form(manifest, manifest.entries(), spec.partition_type(schema))
    form["entries"] = [_drop_unsorted_order(entry) for entry in form["entries"]]
    header = manifest.header
    form["header"] = {"format_version": int(header.format_version), "partition_spec_id": header.spec_id}
    if header.content is not None:
        form["header"]["content"] = int(header.content)
    return _entries({**args, "select": None}, form) | {"header": form["header"]}


def _list(args: Form, data: bytes) -> Form:
    first = args.get("first_row_id")
    row_id = None if first is None else int(first)
    _keeps_rules(
        checks.check_manifest_list(data, versions.FormatVersion(args["format_version"]), first_row_id=row_id),
        columns=True,
    )
    return {"manifests": [_plain(wire.listed_form(one)) for one in reader.read_manifest_list(data)]}


COMPARATORS: dict[str, Comparator] = {
    "manifest.read": compare_manifests,
    "manifest.write": compare_written_manifests,
    "manifest.check": unordered_comparator(),
    "manifest-list.read": compare_manifest_lists,
    "manifest-list.write": compare_written_manifest_lists,
    "manifest-list.check": unordered_comparator(),
}
"""The comparator of each operation."""
