"""Compare a relocated table with the original, with readers that do not share code with the relocation."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.core.lazy_imports import lazy_imports
from conformance.vectors.relocation.paths import Paths

with lazy_imports():
    import fastavro
    from pyarrow import orc
    from pyarrow import parquet as pq


LENGTHS = {"file_size_in_bytes", "manifest_length", "added-files-size", "removed-files-size", "total-files-size"}
"""Fields and members that state the length of other files."""

PATH_COLUMN = 2147483546


def table_differences(
    before: Mapping[str, bytes], after: Mapping[str, bytes], name: str, paths: Paths
) -> Iterator[str]:
    """Yield the differences in a relocated table, except for locations and adapted lengths.

    Args:
        before: the files, by path below the table's folder.
        after: the files at the new location.
        name: the path of the table's folder below the folder that was replaced.
        paths: from where to where.

    Yields:
        A description of the difference for each file with one.
    """
    if before.keys() != after.keys():
        yield f"{name}: has different files"
        return
    for path, data in before.items():
        made = after[path]
        if made in paths:
            yield f"{name}/{path}: has a location in {paths.old}"
        if made == data:
            if _content_or_none(path, data, paths) is not None:
                yield f"{name}/{path}: contains locations in {paths.old}, but did not change"
            continue
        try:
            old, new = _content(path, data), _content(path, made)
        except Exception as error:  # libraries may raise any exception
            yield f"{name}/{path}: changed, but cannot be read: {type(error).__name__}"
            continue
        yield from (f"{name}/{path}: {what}" for what in _differences(paths.replace_all(old), new, (), paths))
        yield from (f"{name}/{path}: {what}" for what in _wrong_lengths(old, new, before, after, name, paths))


def _content_or_none(path: str, data: bytes, paths: Paths) -> Any:
    """Return the content of a file that contains a location; None if it contains none or cannot be read."""
    try:
        content = _content(path, data)
    except Exception:  # as above; the original could not be read either
        return None
    return content if paths.replace_all(content) != content else None


def _content(path: str, data: bytes) -> Any:
    """Return the content of a file as values; for delete files, the rows, the columns, and the writer."""
    if data[:4] == b"Obj\x01":
        # Python has no dates before the year 1, so values are read in their stored form.
        reader = fastavro.reader(io.BytesIO(data.replace(b'"logicalType"', b'"storedType_"')))
        return {"rows": list(reader), "metadata": dict(reader.metadata), "codec": reader.codec}
    if data[:4] == b"PAR1":
        file = pq.ParquetFile(io.BytesIO(data))
        if "file_path" not in file.schema_arrow.names:
            return None
        metadata = file.metadata
        chunks = [
            metadata.row_group(group).column(column)
            for group in range(metadata.num_row_groups)
            for column in range(metadata.num_columns)
        ]
        return {
            "rows": file.read().to_pylist(),
            "schema": str(file.schema).partition("\n")[2],  # the first line contains a memory address
            "metadata": dict(metadata.metadata or {}),
            "written by": metadata.created_by,
            "columns": [
                {"codec": chunk.compression, "encodings": chunk.encodings, "statistics": _statistics(chunk)}
                for chunk in chunks
            ],
        }
    if data[:3] == b"ORC":
        orc_file = orc.ORCFile(io.BytesIO(data))
        if "file_path" not in orc_file.schema.names:
            return None
        return {
            "rows": orc_file.read().to_pylist(),
            "schema": orc_file.schema.to_string(show_schema_metadata=True, show_field_metadata=True),
            "metadata": dict(orc_file.file_metadata.metadata or {}) if hasattr(orc_file, "file_metadata") else {},
            "written by": (orc_file.writer, str(orc_file.writer_version), orc_file.software_version),
            "stripes": (orc_file.nstripes, orc_file.compression, orc_file.row_index_stride),
        }
    if path.endswith(".puffin") or data[:4] == b"PFA1":
        length = int.from_bytes(data[-12:-8], "little")
        start = len(data) - 12 - length
        return {"blobs": data[:start], "footer": json.loads(data[start:-12]), "flags": data[-8:]}
    if path.endswith((".json", ".json.gz")):
        return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    return None


def _statistics(chunk: Any) -> Any:
    found = chunk.statistics
    return None if found is None else (found.min, found.max, found.null_count, found.num_values)


def _differences(expected: Any, found: Any, place: tuple[object, ...], paths: Paths) -> Iterator[str]:
    where = "/".join(map(str, place))
    if place and place[-1] in LENGTHS:
        return
    if type(expected) is not type(found):
        yield f"{where}: {found!r:.80} instead of {expected!r:.80}"
    elif isinstance(expected, dict):
        if list(expected) != list(found):
            yield f"{where}: has different members"
            return
        if expected.get("key") == PATH_COLUMN and ("column_sizes" in place or _is_cut(expected, found, place, paths)):
            return
        for name, item in expected.items():
            yield from _differences(item, found[name], (*place, name), paths)
    elif isinstance(expected, list | tuple):
        if len(expected) != len(found):
            yield f"{where}: {len(found)} instead of {len(expected)}"
            return
        for index, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from _differences(one, other, (*place, index), paths)
    elif expected != found and not (expected != expected and found != found):
        yield f"{where}: {found!r:.80} instead of {expected!r:.80}"


def _is_cut(expected: Any, found: Any, place: tuple[object, ...], paths: Paths) -> bool:
    """Return whether a bound was truncated within the old folder's path, and is a valid bound in the new one."""
    before = expected["value"]
    if not isinstance(before, bytes) or len(before) > len(paths.old) or found["key"] != PATH_COLUMN:
        return False
    location = paths.new.encode() + b"/"
    bound: bytes = found["value"]
    return bound <= location if "lower_bounds" in place else bound > location


def _wrong_lengths(
    old: Any, new: Any, before: Mapping[str, bytes], after: Mapping[str, bytes], name: str, paths: Paths
) -> Iterator[str]:
    """Yield the lengths of files that were right before and no longer are."""
    if not isinstance(old, dict) or "rows" not in old:
        return
    for one, other in zip(old["rows"], new["rows"], strict=True):
        for member, size in (("file_path", "file_size_in_bytes"), ("manifest_path", "manifest_length")):
            known, now = (row.get("data_file", row) for row in (one, other))
            if size not in known:
                continue
            path = (paths.relative(known[member].encode()) or "").removeprefix(f"{name}/")
            if path not in before:
                continue
            was_right = known[size] == len(before[path])
            if now[size] != (len(after[path]) if was_right else known[size]):
                yield f"{size} of {path} is {now[size]}"
