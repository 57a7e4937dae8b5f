"""The operations of iceberg-rust on manifests and manifest lists that ``pyiceberg-core`` exposes: parsing.

Entries are returned as they are stored: its callers handle inheritance and the specs of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal, localcontext
from typing import Any

from pyiceberg.types import DecimalType
from pyiceberg_core import manifest as core

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported
from conformance.engines.pyiceberg.manifests import FILE, INTS, LISTED, SUMMARY, engine_table
from spec_ref.core.json_types import JsonObject

ENTRY = ("status", "snapshot_id", "sequence_number", "file_sequence_number")
"""The fields of an entry that the binding supports, besides the data file."""


def _to_wire(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _to_wire(name, item) for key, item in value.items()}
    if isinstance(value, bytes):
        return value.hex().upper()
    if isinstance(value, list):
        return bytes(value).hex().upper() if name == "key_metadata" else [_to_wire(name, item) for item in value]
    return str(value) if type(value) is int and name not in INTS else value


@contextmanager
def _convert_panics() -> Iterator[None]:
    """Convert panics of the block to exceptions, as the binding turns the library's refusals into panics."""
    try:
        yield
    except (Invalid, Unsupported):
        raise
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        message = str(error)
        if "FeatureUnsupported" in message:
            raise Unsupported(message) from error
        if "`Err` value: DataInvalid" in message:
            raise Invalid(message) from error
        raise RuntimeError(f"panic: {message}") from error


def _read(args: Arguments) -> object:
    names = args.get("select")
    if names is not None and "header" in names:
        raise Unsupported("the library does not report the header of a manifest")
    with _convert_panics():
        entries = core.read_manifest_entries(bytes.fromhex(args["bytes"])).entries()
    asked = [name for name in ENTRY if names is None or name in names]
    if any(getattr(entry, name) is None for entry in entries for name in asked):
        raise Unsupported("the library leaves inheritance to its caller")
    if args["manifest_file"].get("first_row_id") is not None:
        raise Unsupported("the library does not report row ids")
    schema, specs = engine_table(args)
    spec = specs.get(args["manifest_file"]["partition_spec_id"])
    if spec is None:
        raise Unsupported("manifests are read without the specs of the table")
    with _convert_panics():
        return {"entries": [_entry_form(entry, asked, spec.partition_type(schema)) for entry in entries]}


def _entry_form(entry: Any, asked: list[str], partition: Any) -> JsonObject:
    file = entry.data_file
    form = {name: _to_wire(name, getattr(file, name)) for name in FILE if name != "partition"}
    values = zip(partition.fields, file.partition, strict=True)
    form["partition"] = {
        str(field.field_id): native.write(str(field.field_type), _to_decimal(field.field_type, value.value()))
        for field, value in values
        if value is not None
    }
    return {**{name: _to_wire(name, getattr(entry, name)) for name in asked}, "data_file": form}


def _to_decimal(type_: Any, value: Any) -> Any:
    """Return a decimal for the unscaled integer that the binding returns."""
    if not isinstance(type_, DecimalType) or type(value) is not int:
        return value
    with localcontext() as context:
        context.prec = 38
        return Decimal(value).scaleb(-type_.scale)


def _list_read(args: Arguments) -> object:
    if "first_row_id" in args.get("select", ()):
        raise Unsupported("the library does not report row ids")
    with _convert_panics():
        manifests = core.read_manifest_list(bytes.fromhex(args["bytes"])).entries()
        return {"manifests": [_listed_form(one) for one in manifests]}


def _listed_form(manifest: Any) -> JsonObject:
    form = {name: _to_wire(name, getattr(manifest, name)) for name in LISTED if name != "partitions"}
    form["partitions"] = [
        {name: _to_wire(name, getattr(one, name)) for name in SUMMARY} for one in _summaries(manifest)
    ]
    return form


def _summaries(manifest: Any) -> list[Any]:
    """Return the partition summaries; the binding panics if the library has none."""
    try:
        summaries: list[Any] = manifest.partitions
    except BaseException as error:
        if type(error).__name__ != "PanicException" or "`None` value" not in str(error):
            raise
        return []
    return summaries


def operations() -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {"manifest.read": _read, "manifest-list.read": _list_read}
