"""The probable writer of a file, from the marks that writers leave (created-by, keys of headers, names in schemas).

`conformance.validator.writers` recognises the engines under test and is used first. This module adds the marks of other
writers, and the versions that snapshot summaries name.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

import attrs

from conformance.validator.writers import fingerprint_files, identify_writers


@attrs.frozen
class WriterMarks:
    """The marks of the writer of a file."""

    created_by: str | None = None
    """The ``created_by`` of a Parquet footer or a Puffin file."""

    manifest_header: Mapping[str, str] = attrs.field(factory=dict)
    """The key-value metadata of a manifest or manifest list."""

    summary: Mapping[str, str] = attrs.field(factory=dict)
    """The summary of the snapshot."""


_OTHERS: tuple[tuple[str, str], ...] = (
    (r"(?i)^impala", "Impala"),
    (r"(?i)bigquery|^parquet-cpp version 1", "BigQuery"),
    (r"(?i)snowflake", "Snowflake"),
)
"""Writers without an adapter, by patterns of ``created_by``. The others are in ``fingerprints.toml`` of each engine."""


def find_probable_writer(marks: WriterMarks) -> str | None:
    """Return the name of the probable writer; None if the marks are not known."""
    found = " or ".join(identify_writers(header=marks.manifest_header, created_by=marks.created_by)) or None
    known = _find_writer(marks)
    if found is None or (known is not None and known.startswith(found)):
        return known  # has the version too
    return found


@functools.lru_cache
def find_footer_writer(created_by: str | None) -> str | None:
    """Return the name of the probable writer of a file; None if it is not known.

    Most files of a table have one writer, so that the answers are cached.

    Args:
        created_by: the ``created_by`` of the file.
    """
    return find_probable_writer(WriterMarks(created_by=created_by))


@functools.cache
def _footers() -> tuple[tuple[str, str], ...]:
    files = fingerprint_files().values()
    return tuple((row["pattern"], row["writer"]) for content in files for row in content.get("footer", ()))


def _find_writer(marks: WriterMarks) -> str | None:
    if marks.created_by is not None:
        for pattern, name in (*_footers(), *_OTHERS):
            if re.search(pattern, marks.created_by):
                return name
    summary = marks.summary
    version = summary.get("iceberg-version", "")
    if library_version := re.match(r"Apache Iceberg (?:(?P<library>[A-Za-z]+) )?v?(?P<version>\d\S*)", version):
        engine = summary.get("engine-name") or ("Spark" if "spark.app.id" in summary else None)
        named = library_version["library"]  # only iceberg-go: "Apache Iceberg Go v0.7.0"
        library = f"{f'iceberg-{named.lower()}' if named else 'Iceberg-Java'} {library_version['version']}"
        return f"{library} ({engine})" if engine else library
    return summary.get("engine-name")
