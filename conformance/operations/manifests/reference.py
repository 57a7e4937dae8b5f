"""The operations of the reference implementation on manifests and manifest lists.

Modules are imported where they are used, as runs that ask for none do not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.operations.forms import Functions

Arguments = dict[str, Any]


def _read(functions: Functions, args: Arguments) -> object:
    from conformance.operations.manifests.wire import listed_from_form, manifest_form, table_of
    from spec_ref.manifests import read_manifest

    data = bytes.fromhex(args["bytes"])
    schema, specs = table_of(args["schema"], args["specs"])
    listed = listed_from_form(args["manifest_file"], manifest_path="m.avro", manifest_length=len(data))
    manifest = read_manifest(data, manifest_file=listed, specs=specs)
    entries = functions["manifest entries"](manifest)
    return manifest_form(manifest, entries, specs[listed.partition_spec_id].partition_type(schema))


def _write(args: Arguments) -> object:
    from conformance.operations.manifests.wire import entry_from_form, table_of
    from spec_ref.core.versions import FormatVersion
    from spec_ref.manifest_lists.manifest_file import ManifestContent
    from spec_ref.manifests import write_manifest

    schema, specs = table_of(args["schema"], [args["spec"]])
    (spec,) = specs.values()
    partition = spec.partition_type(schema)
    entries = [entry_from_form(form, partition) for form in args["entries"]]
    content = ManifestContent(args["content"])
    return write_manifest(entries, spec, schema, FormatVersion(args["format_version"]), content).hex().upper()


def _check(args: Arguments) -> list[str]:
    from conformance.operations.manifests.wire import listed_from_form, table_of
    from spec_ref.manifests import check_manifest

    data = bytes.fromhex(args["bytes"])
    schema, specs = table_of(args["schema"], args["specs"])
    told = args.get("manifest_file")
    listed = told and listed_from_form(told, manifest_path="m.avro", manifest_length=len(data))
    found = check_manifest(data, manifest_file=listed, specs=specs, schema=schema)
    return sorted({finding.requirement for finding in found})


def _list_read(args: Arguments) -> object:
    from conformance.operations.manifests.wire import listed_form
    from spec_ref.manifest_lists.reader import read_manifest_list

    return {"manifests": [listed_form(one) for one in read_manifest_list(bytes.fromhex(args["bytes"]))]}


def _list_write(args: Arguments) -> object:
    from conformance.operations.manifests.wire import listed_from_form
    from spec_ref.core.versions import FormatVersion
    from spec_ref.manifest_lists.writer import write_manifest_list
    from spec_ref.row_lineage.assignment import assign_first_row_ids

    number = int(args["sequence_number"])
    new = {"sequence_number": number, "min_sequence_number": number}
    manifests = tuple(listed_from_form(form, **new) for form in args["manifests"])
    told = {name: args.get(name) for name in ("snapshot_id", "parent_snapshot_id", "first_row_id")}
    ids = {name: None if value is None else int(value) for name, value in told.items()}
    if ids["first_row_id"] is not None:
        manifests, _ = assign_first_row_ids(manifests, ids["first_row_id"])
    version = FormatVersion(args["format_version"])
    data = write_manifest_list(
        manifests, version, snapshot_id=ids["snapshot_id"], parent_snapshot_id=ids["parent_snapshot_id"],
        sequence_number=number, first_row_id=ids["first_row_id"],
    )  # fmt: skip
    return data.hex().upper()


def _list_check(args: Arguments) -> list[str]:
    from conformance.operations.manifests.wire import table_of
    from spec_ref.core.versions import FormatVersion
    from spec_ref.manifest_lists.checks import check_manifest_list

    specs = table_of(args["schema"], args["specs"])[1]
    first = args.get("first_row_id")
    found = check_manifest_list(
        bytes.fromhex(args["bytes"]), FormatVersion(args["format_version"]), specs=specs,
        first_row_id=None if first is None else int(first),
    )  # fmt: skip
    return sorted({finding.requirement for finding in found})


def operations(functions: Functions) -> dict[str, Callable[[Arguments], object]]:
    """What can be asked, by name."""
    return {
        "manifest.read": partial(_read, functions),
        "manifest.write": _write,
        "manifest.check": _check,
        "manifest-list.read": _list_read,
        "manifest-list.write": _list_write,
        "manifest-list.check": _list_check,
    }
