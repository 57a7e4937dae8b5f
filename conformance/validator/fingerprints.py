"""The probable writer of a file, from the marks that writers leave (created-by, keys of headers, names in schemas).

`conformance.validator.writers` knows more and is used first, if it is installed. This module uses only the few marks
that are unambiguous.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Mapping

import attrs

from conformance.validator.writers import fingerprint_files


@attrs.frozen
class Evidence:
    """The marks of the writer of a file."""

    created_by: str | None = None
    """The ``created_by`` of a Parquet footer or a Puffin file."""

    manifest_header: Mapping[str, str] = attrs.field(factory=dict)
    """The key-value metadata of a manifest or manifest list."""

    summary: Mapping[str, str] = attrs.field(factory=dict)
    """The summary of the snapshot."""


Fingerprint = Callable[[Evidence], str | None]

_OTHERS: tuple[tuple[str, str], ...] = (
    (r"(?i)^impala", "Impala"),
    (r"(?i)bigquery|^parquet-cpp version 1", "BigQuery"),
    (r"(?i)trino", "Trino"),
    (r"(?i)snowflake", "Snowflake"),
)
"""Writers without an adapter, by patterns of ``created_by``. The others are in ``fingerprints.toml`` of each engine."""


def suspect(evidence: Evidence) -> str | None:
    """Return the name of the probable writer; None if there are no marks."""
    plugged = _plugged()
    found, known = plugged(evidence) if plugged is not None else None, _known(evidence)
    if found is None or (known is not None and known.startswith(found)):
        return known  # has the version too
    return found


@functools.cache
def _plugged() -> Fingerprint | None:
    try:
        module = importlib.import_module("conformance.validator.writers")
    except ImportError:
        return None
    made: Fingerprint | None = getattr(module, "suspect", None)
    return made


@functools.cache
def _footers() -> tuple[tuple[str, str], ...]:
    files = fingerprint_files().values()
    return tuple((row["pattern"], row["writer"]) for content in files for row in content.get("footer", ()))


def _known(evidence: Evidence) -> str | None:
    if evidence.created_by is not None:
        for pattern, name in (*_footers(), *_OTHERS):
            if re.search(pattern, evidence.created_by):
                return name
    summary = evidence.summary
    version = summary.get("iceberg-version", "")
    if library_version := re.match(r"Apache Iceberg (?:(?P<library>[A-Za-z]+) )?v?(?P<version>\d\S*)", version):
        engine = summary.get("engine-name") or ("Spark" if "spark.app.id" in summary else None)
        named = library_version["library"]  # only iceberg-go: "Apache Iceberg Go v0.7.0"
        library = f"{f'iceberg-{named.lower()}' if named else 'Iceberg-Java'} {library_version['version']}"
        return f"{library} ({engine})" if engine else library
    return summary.get("engine-name")
