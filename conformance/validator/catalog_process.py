"""The process that queries one catalog through PyIceberg, in PyIceberg's environment.

A request is a line of JSON on standard input, ``{"list": "db.*"}`` or ``{"load": ["db", "events"]}``; the answer is a
line of JSON on standard output. The process returns the location of metadata and does not read it: PyIceberg would
refuse damaged metadata, which the validator reports.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any, NoReturn

WILDCARD = "*"


class _Located(BaseException):
    """Carries the location of the metadata; raised where PyIceberg would begin to read it."""


def _is_at(location: str | None) -> NoReturn:
    raise _Located(location)


class _MetadataFile:
    """Replaces PyIceberg's reader of metadata files."""

    @staticmethod
    def table_metadata(input_file: Any, *_arguments: object, **_options: object) -> NoReturn:
        _is_at(input_file.location)


class _TableResponse:
    """Replaces PyIceberg's reader of the answer of a REST catalog, which contains the metadata."""

    @staticmethod
    def model_validate_json(text: str) -> NoReturn:
        _is_at(json.loads(text).get("metadata-location"))


def locate_metadata(catalog: Any, identifier: list[str]) -> str | None:
    """Return where the current metadata of a table is.

    Args:
        catalog: PyIceberg's catalog.
        identifier: the namespace and the name of the table.

    Returns:
        The location; None if the catalog names none.
    """
    module = sys.modules[type(catalog).__module__]
    for name, stub in (("FromInputFile", _MetadataFile), ("TableResponse", _TableResponse)):
        if hasattr(module, name):
            setattr(module, name, stub)
    try:
        found: str | None = catalog.load_table(tuple(identifier)).metadata_location
    except _Located as located:
        found = located.args[0]
    return found


def list_tables(catalog: Any, pattern: str) -> dict[str, Any]:
    """List the tables of all namespaces that may have tables that match a pattern.

    Args:
        catalog: PyIceberg's catalog.
        pattern: a name with wildcards. The namespace before the first wildcard is listed, with all its namespaces.

    Returns:
        ``tables``, the identifiers, and ``failed``, the errors of the namespaces that could not be listed.
    """
    start = tuple(pattern.partition(WILDCARD)[0].split(".")[:-1])
    tables: dict[tuple[str, ...], None] = {}
    failed: list[list[str]] = []
    seen = {start}
    waiting = [start]
    while waiting:
        namespace = waiting.pop()
        try:
            if namespace:
                tables |= dict.fromkeys(tuple(table) for table in catalog.list_tables(namespace))
            within = {tuple(one) for one in catalog.list_namespaces(namespace)} - seen
        except Exception as error:
            if namespace == start:
                raise
            failed.append([".".join(namespace), _describe_error(error)])
            continue
        seen |= within
        waiting += within
    return {"tables": list(tables), "failed": failed}


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def main(name: str) -> None:
    """Answer requests about a catalog until standard input ends.

    Args:
        name: the name of the catalog in PyIceberg's configuration.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what clients of catalogs print is not an answer
    catalog: Any = None
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any]
        try:
            if catalog is None:
                catalog = import_module("pyiceberg.catalog").load_catalog(name)
            if "list" in request:
                answer = list_tables(catalog, request["list"])
            else:
                answer = {"location": locate_metadata(catalog, request["load"])}
        except Exception as error:
            answer = {"error": _describe_error(error), "error_class": type(error).__name__}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
