"""The operations of the reference implementation on manifests and manifest lists.

The modules that they use are imported on first use, so that other runs start faster.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from conformance.adapter_sdk.serve import Arguments
from conformance.core.lazy_imports import lazy_imports
from conformance.operations.forms import Functions

with lazy_imports():
    from conformance.operations.manifests import wire
    from spec_ref import manifests as manifest_files
    from spec_ref.core import versions
    from spec_ref.manifest_lists import checks, manifest_file, reader, writer
    from spec_ref.row_lineage import assignment


def _read(functions: Functions, args: Arguments) -> object:
    data = bytes.fromhex(args["bytes"])
    schema, specs = wire.read_table_schema(args["schema"], args["specs"])
    listed = wire.listed_from_form(args["manifest_file"], manifest_path="m.avro", manifest_length=len(data))
    manifest = manifest_files.read_manifest(data, manifest_file=listed, specs=specs)
    entries = functions["manifest entries"](manifest)
    return wire.manifest_form(manifest, entries, specs[listed.partition_spec_id].partition_type(schema))


def _write(args: Arguments) -> object:
    schema, specs = wire.read_table_schema(args["schema"], [args["spec"]])
    (spec,) = specs.values()
    partition = spec.partition_type(schema)
    entries = [wire.entry_from_form(form, partition) for form in args["entries"]]
    content = manifest_file.ManifestContent(args["content"])
    return (
        manifest_files.write_manifest(entries, spec, schema, versions.FormatVersion(args["format_version"]), content)
        .hex()
        .upper()
    )


def _check(args: Arguments) -> list[str]:
    data = bytes.fromhex(args["bytes"])
    schema, specs = wire.read_table_schema(args["schema"], args["specs"])
    given = args.get("manifest_file")
    listed = given and wire.listed_from_form(given, manifest_path="m.avro", manifest_length=len(data))
    found = manifest_files.check_manifest(data, manifest_file=listed, specs=specs, schema=schema)
    return sorted({finding.requirement for finding in found})


def _list_read(args: Arguments) -> object:
    return {"manifests": [wire.listed_form(one) for one in reader.read_manifest_list(bytes.fromhex(args["bytes"]))]}


def _list_write(args: Arguments) -> object:
    number = int(args["sequence_number"])
    new = {"sequence_number": number, "min_sequence_number": number}
    manifests = tuple(wire.listed_from_form(form, **new) for form in args["manifests"])
    given = {name: args.get(name) for name in ("snapshot_id", "parent_snapshot_id", "first_row_id")}
    ids = {name: None if value is None else int(value) for name, value in given.items()}
    if ids["first_row_id"] is not None:
        manifests, _ = assignment.assign_first_row_ids(manifests, ids["first_row_id"])
    version = versions.FormatVersion(args["format_version"])
    data = writer.write_manifest_list(
        manifests,
        version,
        snapshot_id=ids["snapshot_id"],
        parent_snapshot_id=ids["parent_snapshot_id"],
        sequence_number=number,
        first_row_id=ids["first_row_id"],
    )
    return data.hex().upper()


def _list_check(args: Arguments) -> list[str]:
    specs = wire.read_table_schema(args["schema"], args["specs"])[1]
    first = args.get("first_row_id")
    found = checks.check_manifest_list(
        bytes.fromhex(args["bytes"]),
        versions.FormatVersion(args["format_version"]),
        specs=specs,
        first_row_id=None if first is None else int(first),
    )
    return sorted({finding.requirement for finding in found})


def operations(functions: Functions) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {
        "manifest.read": partial(_read, functions),
        "manifest.write": _write,
        "manifest.check": _check,
        "manifest-list.read": _list_read,
        "manifest-list.write": _list_write,
        "manifest-list.check": _list_check,
    }
