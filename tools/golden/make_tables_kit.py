"""The shared part of makers of golden tables: a table under construction, whose rows follow from its statements.

A maker runs statements in an engine, and declares for each statement what it does to the rows. The rows are never read
from the engine. Values have a simpler form than the exchange form: a long may be an int, a struct is a dict by name,
and a map is a list of pairs.
"""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import math
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

PLACE = Path("/tmp/iceberg-conformance/tables")
KEPT = Path(__file__).resolve().parents[2] / "vectors" / "golden" / "tables"

Row = dict[str, Any]


def exchange(type_: Any, value: Any) -> Any:
    """Convert a value from the makers' form to the exchange form."""
    if value is None:
        return None
    if isinstance(type_, dict):
        if type_["type"] == "struct":
            return {str(field["id"]): exchange(field["type"], value[field["name"]]) for field in type_["fields"]}
        if type_["type"] == "list":
            return [exchange(type_["element"], item) for item in value]
        return {
            "keys": [exchange(type_["key"], key) for key, _ in value],
            "values": [exchange(type_["value"], item) for _, item in value],
        }
    if type_ == "long":
        return str(value)
    if type_ in ("float", "double"):
        if isinstance(value, str):
            return value
        assert math.isfinite(value), "written as text"
        return float(value)
    return value


def struct(*fields: tuple[int, str, Any]) -> dict[str, Any]:
    """Return a struct type of optional fields."""
    return {
        "type": "struct",
        "fields": [{"id": id_, "name": name, "required": False, "type": type_} for id_, name, type_ in fields],
    }


def list_type(element_id: int, element: Any) -> dict[str, Any]:
    """Return a list type of optional elements."""
    return {"type": "list", "element-id": element_id, "element-required": False, "element": element}


def map_type(key_id: int, key: Any, value_id: int, value: Any) -> dict[str, Any]:
    """Return a map type of optional values."""
    ids = {"key-id": key_id, "value-id": value_id}
    return {"type": "map", **ids, "key": key, "value": value, "value-required": False}


def _plain(type_: Any) -> Any:
    """Normalize a type for comparison: without docs, defaults and the spaces in decimals."""
    if isinstance(type_, str):
        return type_.replace(" ", "")
    kept = ("type", "id", "name", "element-id", "key-id", "value-id")
    made = {name: type_[name] for name in kept if name in type_}
    for name in ("type", "element", "key", "value"):
        if isinstance(type_.get(name), dict) or (name in ("element", "key", "value") and name in type_):
            made[name] = _plain(type_[name])
    if isinstance(made.get("type"), str):
        made["type"] = made["type"].replace(" ", "")
    if "fields" in type_:
        made["fields"] = [_plain(field) for field in type_["fields"]]
    return made


FORMAT_NAMES = {"avro": "Avro", "orc": "ORC", "parquet": "Parquet"}
"""The names of the file formats in descriptions of tables."""


class Table:
    """A golden table under construction."""

    def __init__(self, name: str, engine: str, version: int, about: str) -> None:
        self.name = name
        self.engine = engine
        self.version = version
        self.about = re.sub(r"\b(avro|orc|parquet)\b", lambda found: FORMAT_NAMES[found[0]], about)
        self.location = PLACE / name
        self.statements: list[str] = []
        self.data_files: dict[str, list[dict[str, Any]]] = {}
        self.columns: dict[str, Any] = {}
        self.rows: list[Row] = []
        self.states: list[dict[str, Any]] = []
        self.next_row_id = 0
        self.sequence_number = 0
        shutil.rmtree(self.location, ignore_errors=True)

    # The effects of statements on the rows.

    def record_statement(self, statement: str) -> None:
        """Record a statement for the index."""
        self.statements.append(statement)

    def record_file(self, path: str, rows: list[dict[str, Any]], partition: str = "") -> None:
        """Record the rows of a data file, in exchange form, from which expected plans are derived."""
        self.data_files[path] = rows
        self.record_statement(f"Java: write the data file {path} of {rows}" + (f" in {partition}" if partition else ""))

    def record_commit(self) -> None:
        """Record that a snapshot was committed."""
        self.sequence_number += 1

    def record_insert(self, rows: Iterable[Iterable[Any]]) -> list[Row]:
        """Record that rows were added, in this order, which determines their ids if the table has row lineage."""
        self.record_commit()
        made = [dict(zip(self.columns, row, strict=True)) for row in rows]
        if self.version >= 3:
            for row in made:
                row["_row_id"] = self.next_row_id
                row["_last_updated_sequence_number"] = self.sequence_number
                self.next_row_id += 1
        self.rows += made
        return made

    def record_delete(self, matches: Callable[[Row], bool]) -> None:
        """Record that rows were deleted."""
        self.record_commit()
        self.rows = [row for row in self.rows if not matches(row)]

    def record_update(self, matches: Callable[[Row], bool], rewritten: int | None = None, **values: Any) -> None:
        """Record that rows were updated in place, so that they keep their ids.

        Args:
            matches: the rows that change.
            rewritten: the number of rows of the new files; by default, the number of updated rows.
            values: the new values of the columns.
        """
        self.record_commit()
        changed = [row for row in self.rows if matches(row)]
        for row in changed:
            row |= values
            if self.version >= 3:
                row["_last_updated_sequence_number"] = self.sequence_number
        if self.version >= 3:
            self.next_row_id += len(changed) if rewritten is None else rewritten

    def record_added_column(self, name: str, type_: Any, after: str | None = None, value: Any = None) -> None:
        """Record that a column was added, with ``value`` in the existing rows."""
        columns = list(self.columns.items())
        at = len(columns) if after is None else 1 + list(self.columns).index(after) if after else 0
        self.columns = dict([*columns[:at], (name, type_), *columns[at:]])
        for row in self.rows:
            row[name] = value

    def record_dropped_column(self, name: str) -> None:
        """Record that a column was dropped."""
        del self.columns[name]
        for row in self.rows:
            del row[name]

    def record_renamed_column(self, name: str, to: str) -> None:
        """Record that a column was renamed."""
        self.columns = {to if known == name else known: type_ for known, type_ in self.columns.items()}
        for row in self.rows:
            row[to] = row.pop(name)

    # Storing the table.

    def metadata_file(self) -> Path:
        """Return the newest metadata file."""
        files = list((self.location / "metadata").glob("*.metadata.json"))
        return max(files, key=lambda path: (path.stat().st_mtime_ns, path.name))

    def metadata(self) -> dict[str, Any]:
        """Return the newest metadata."""
        data = self.metadata_file().read_bytes()
        read: dict[str, Any] = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        return read

    def mark(self, label: str, ref: str | None = None, rows: list[Row] | None = None, **more: Any) -> None:
        """Record the expected content of the current snapshot, or of that of ``ref``."""
        found = self.metadata()
        snapshot = found["refs"][ref]["snapshot-id"] if ref else found.get("current-snapshot-id")
        one = next(kept for kept in found["snapshots"] if kept["snapshot-id"] == snapshot)
        self._check(found)
        at = {"snapshot": str(snapshot), "timestamp_ms": one["timestamp-ms"]}
        self.states.append({"label": label, **at, **self._state(rows), **more})

    def _state(self, rows: list[Row] | None = None) -> dict[str, Any]:
        shown = self.rows if rows is None else rows
        types = copy.deepcopy(self.columns)
        lineage = {"_row_id": "long", "_last_updated_sequence_number": "long"} if self.version >= 3 else {}
        made = [{name: exchange(type_, row.get(name)) for name, type_ in {**types, **lineage}.items()} for row in shown]
        return {"types": types, "rows": made}

    def _check(self, found: dict[str, Any]) -> None:
        """Compare the recorded state with the table's metadata, to notice mistakes of the maker."""
        self._check_columns(found)
        if self.version >= 2:
            assert found["last-sequence-number"] == self.sequence_number, (self.name, self.sequence_number)
        if self.version >= 3:
            assert found["next-row-id"] == self.next_row_id, (self.name, found["next-row-id"], self.next_row_id)

    def _check_columns(self, found: dict[str, Any]) -> None:
        schema = next(one for one in found["schemas"] if one["schema-id"] == found["current-schema-id"])
        written = {field["name"]: _plain(field["type"]) for field in schema["fields"]}
        said = {name: _plain(type_) for name, type_ in self.columns.items()}
        assert list(written.items()) == list(said.items()), f"{self.name}: {written} is not {said}"
        assert found["format-version"] == self.version, self.name

    def finish(self, **more: Any) -> None:
        """Store the table, with the expected content of its current snapshot, and its index."""
        found = self.metadata()
        self._check(found)
        newest = self.metadata_file()
        for path in sorted(self.location.rglob("*"), reverse=True):
            old = path.name.endswith(".metadata.json") and path != newest
            if old or path.name.endswith(".crc") or path.name == "_SUCCESS":
                path.unlink()
            elif path.is_dir() and not any(path.iterdir()):
                path.rmdir()
        current = {"label": "current", **self._state()}
        self.keep(newest.relative_to(self.location), [*self.states, current], **more)

    def keep(self, newest: Path, states: list[dict[str, Any]], **more: Any) -> None:
        """Copy the files and write the index."""
        kept = KEPT / self.name
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(self.location, kept)
        files = {str(path.relative_to(kept)): path for path in sorted(kept.rglob("*")) if path.is_file()}
        engine, _, version = self.engine.partition(" ")
        index = {
            "table": self.name,
            "about": self.about,
            "engine": engine,
            "version": version,
            "made_by": "tools/golden/make_tables.py",
            "format_version": self.version,
            "statements": self.statements,
            **({"data_files": self.data_files} if self.data_files else {}),
            "metadata": str(newest),
            **more,
            "states": states,
            "files": {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()},
        }
        (kept / "index.json").write_text(index_text(index), encoding="utf-8")
        size = sum(path.stat().st_size for path in files.values())
        print(f"{self.name}: {len(files)} files, {size} bytes, {len(states)} states", file=sys.stderr)


def index_text(index: dict[str, Any]) -> str:
    """Format an index as text: a line for each statement, state and file."""
    lines = []
    for name, member in index.items():
        if isinstance(member, list) and member:
            items = ",\n".join(f"  {json.dumps(item)}" for item in member)
            lines.append(f" {json.dumps(name)}: [\n{items}\n ]")
        elif name == "files":
            items = ",\n".join(f"  {json.dumps(key)}: {json.dumps(item)}" for key, item in member.items())
            lines.append(f" {json.dumps(name)}: {{\n{items}\n }}")
        else:
            lines.append(f" {json.dumps(name)}: {json.dumps(member)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


MAKERS: dict[str, tuple[str, Callable[[Any], None]]] = {}
"""The name of the engine and the maker of each golden table, by table name."""


def golden(name: str, *engines: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Register the maker of a table."""

    def register(maker: Callable[[Any], None]) -> Callable[[Any], None]:
        assert name not in MAKERS, name
        MAKERS[name] = (engines[0], maker)
        return maker

    return register
