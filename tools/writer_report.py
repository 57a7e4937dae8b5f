"""Report what each engine writes and which rules it breaks, from the tables in ``vectors/golden/writers``.

    python -m tools.writer_report          write ``fingerprint.json`` of each writer, the marks in
                                           ``fingerprints.toml`` of its engine, and ``docs/writers.md``
    python -m tools.writer_report --check  verify that they match the tables

``tools/golden/make_writers.py`` makes the tables, and the checks of `spec_ref` find what they break.
``tests/engines/test_reader_writers.py`` lists each expected finding with the reason why it is correct.
"""

from __future__ import annotations

import collections
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from conformance.engine_setup.folders import EngineFolder, engine_folders
from conformance.validator.finding import with_severity
from conformance.validator.tolerated import tolerate
from conformance.validator.writers import FILE, fingerprint_files, manifest_marks, program_name
from spec_ref.checks.findings import Finding
from spec_ref.core.json_types import JsonObject
from spec_ref.core.versions import FormatVersion
from spec_ref.data_files.parquet_schema import check_parquet_schema
from spec_ref.data_files.parquet_thrift import read_parquet_schema
from spec_ref.encodings.avro.container import open_container
from spec_ref.manifest_lists.checks import check_manifest_list
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifests import check_manifest
from spec_ref.statistics.puffin_checks import check_puffin
from spec_ref.table_metadata import TableMetadata, check_metadata, read_metadata
from tools.entry_point import run_without_parser

ROOT = Path(__file__).resolve().parents[1]
WRITERS = ROOT / "vectors/golden/writers"
DOCUMENT = ROOT / "docs/writers.md"
GENERATED = "# What follows is written by `python -m tools.writer_report`, from the files in vectors/golden/writers.\n"

ENGINES = {one.name: one for one in engine_folders()}
NAMES = {name: one.title for name, one in ENGINES.items()}
COMMITTED_BY = {
    title: NAMES[content["committed_by"]] for title, content in fingerprint_files().items() if "committed_by" in content
}
"""The library that writes metadata and manifests for an engine that only writes data files."""

LIBRARIES = {"parquet-cpp-arrow": "Arrow C++", "parquet-rs": "parquet-rs", "parquet-mr": "Iceberg-Java"}
"""Libraries that name themselves in Parquet footers for every engine that uses them, and the name for their files."""


def indexes() -> list[tuple[Path, JsonObject]]:
    """Return the folder of each writer, with its index."""
    paths = sorted(WRITERS.glob("*/index.json"))
    return [(path.parent, json.loads(path.read_text(encoding="utf-8"))) for path in paths]


# What a table is made of


class Table:
    """One table of a writer, with its files."""

    def __init__(self, folder: Path, name: str, index: JsonObject) -> None:
        self.folder = folder / name
        self.index = index["tables"][name]
        self.version = FormatVersion(int(name[1:]))
        self.document: bytes = (self.folder / self.index["metadata"]).read_bytes()
        self.metadata: TableMetadata = read_metadata(_complete_metadata(self.document))

    def file(self, location: str) -> bytes:
        """Return the content of a file in the table."""
        return (self.folder / location.rpartition("/")[2]).read_bytes()

    def lists(self) -> list[bytes]:
        """Return the manifest lists of the snapshots, the oldest first."""
        return [self.file(str(snapshot.manifest_list)) for snapshot in self.metadata.snapshots]

    def manifests(self) -> dict[str, ManifestFile]:
        """Return the manifests by location, each as in the first list that has it."""
        found: dict[str, ManifestFile] = {}
        for data in self.lists():
            for listed in read_manifest_list(data):
                found.setdefault(listed.manifest_path, listed)
        return found

    def findings(self) -> Iterator[tuple[str, Finding]]:
        """Return all findings of the checks of single files, by kind of file."""
        specs = {spec.spec_id: spec for spec in self.metadata.partition_specs}
        schema = next(one for one in self.metadata.schemas if one.schema_id == self.metadata.current_schema_id)
        yield from (("metadata", finding) for finding in check_metadata(self.document))
        for snapshot, data in zip(self.metadata.snapshots, self.lists(), strict=True):
            first_row_id = getattr(snapshot, "first_row_id", None)
            for finding in check_manifest_list(data, self.version, specs=specs, first_row_id=first_row_id):
                yield "manifest-list", finding
        for path, listed in self.manifests().items():
            for finding in check_manifest(self.file(path), manifest_file=listed, specs=specs, schema=schema):
                yield "manifest", finding

    def data_findings(self) -> Iterator[tuple[str, Finding]]:
        """Yield the findings of the checks of data files, by kind of file."""
        for path in sorted(self.folder.glob("*.parquet")):
            kind = "delete-file" if "pos" in pq.read_schema(path).names else "data-file"
            for broken in check_parquet_schema(read_parquet_schema(path.read_bytes())):
                yield kind, with_severity(broken)
        for path in sorted(self.folder.glob("*.puffin")):
            for broken in check_puffin(path.read_bytes()):
                yield "puffin", with_severity(broken)


def _complete_metadata(text: bytes) -> bytes:
    """Add the fields that v1 requires beside today's lists to metadata without them, so that the rest can be read."""
    document = json.loads(text)
    if document["format-version"] == 1:
        (schema,) = document["schemas"]
        document = {"schema": schema, "partition-spec": document["partition-specs"][0]["fields"], **document}
    return json.dumps(document).encode()


def header(data: bytes) -> dict[str, str]:
    """Return the key-value metadata of an Avro file."""
    return {key: value.decode() for key, value in open_container(data, "MAN001").metadata.items()}


def columns(record: JsonObject) -> list[str]:
    """Return the fields of an Avro record, nested ones after their parent: ``id name: type``, ``?`` if optional."""
    return [text for field in record["fields"] for text in _column(field)]


def _column(field: JsonObject) -> Iterator[str]:
    branches = field["type"] if isinstance(field["type"], list) else [field["type"]]
    optional = "?" if "null" in branches else ""
    (type_,) = (branch for branch in branches if branch != "null")
    default = f" = {json.dumps(field['default'])}" if "default" in field else ""
    children: JsonObject = {}
    match type_:
        case {"type": "record"}:
            shown_type, children = "record", type_
        case {"type": "array", "items": items}:
            element = items["type"] if isinstance(items, dict) else items
            shown_type = f"array of {element}" + "".join(
                f" {key}={type_[key]}" for key in sorted(type_.keys() - _ARRAY)
            )
            children = items if element == "record" else {}
        case {"type": str(name)}:
            shown_type = name + "".join(
                f" {key}={value}" for key, value in type_.items() if key not in ("type", "name")
            )
        case _:
            shown_type = str(type_)
    yield f"{field.get('field-id', '-')} {field['name']}: {shown_type}{optional}{default}"
    for child in children.get("fields", []):
        yield from _column(child)


_ARRAY = {"type", "items"}


def facts(table: Table) -> JsonObject:
    """Return the properties of a table's files, as far as the writer chooses them."""
    document = json.loads(table.document)
    snapshots = document.get("snapshots", [])
    lists = [header(data) for data in table.lists()]
    manifests = [header(table.file(path)) for path in table.manifests()]
    findings = collections.Counter(
        (kind, one.requirement, one.check, one.severity.value, _without_numbers(one.path))
        for kind, found in (*table.findings(), *table.data_findings())
        for one in tolerate([found])
    )
    return {
        "metadata": {
            "file": _pattern(table.index["metadata"]),
            "members": list(document),
            "schema": sorted({name for schema in document.get("schemas", []) for name in schema}),
            "partition-field": sorted(
                {name for spec in document.get("partition-specs", []) for one in spec["fields"] for name in one}
            ),
            "snapshot": sorted({name for snapshot in snapshots for name in snapshot}),
            "summary": sorted({name for snapshot in snapshots for name in snapshot.get("summary", {})}),
        },
        "manifest-list": _distinct(lists),
        "manifest": _distinct(manifests),
        "data-files": _files(table),
        "findings": [
            {"in": kind, "requirement": code, "check": check, "severity": severity, "at": place, "times": times}
            for (kind, code, check, severity, place), times in sorted(findings.items())
        ],
    }


def _without_numbers(path: str) -> str:
    """Replace the numbers in a path, which differ from table to table."""
    return re.sub(r"(?<=/)\d+(?=/|$)", "N", path)


def _pattern(name: str) -> str:
    """Replace the parts of a file name that differ from file to file."""
    return re.sub(r"^v\d+", "vN", re.sub(r"^\d{5}-[0-9a-f-]{36}", "NNNNN-UUID", name))


def _distinct(headers: list[dict[str, str]]) -> list[JsonObject]:
    """Return the distinct forms of files of one kind."""
    made: list[JsonObject] = []
    for one in headers:
        form = {
            "marks": manifest_marks(one),
            "content": one.get("content"),
            "columns": columns(json.loads(one["avro.schema"])),
        }
        if form not in made:
            made.append(form)
    return made


def _files(table: Table) -> list[JsonObject]:
    """Return the distinct forms of the Parquet files."""
    made: list[JsonObject] = []
    for path in sorted(table.folder.glob("*.parquet")):
        file = pq.ParquetFile(path)
        footer = file.metadata
        form = {
            "created_by": footer.created_by,
            "keys": sorted(key.decode() for key in footer.metadata or {}),
            "codecs": sorted({footer.row_group(0).column(index).compression for index in range(footer.num_columns)}),
            "columns": [
                f"{child.field_id} {child.name}: {child.physical} {child.logical or ''}".strip()
                for child in read_parquet_schema(path.read_bytes()).children
            ],
        }
        if form not in made:
            made.append(form)
    return sorted(made, key=lambda one: str(one["columns"]))


# What is written


def marks(all_facts: dict[str, dict[str, JsonObject]], names: dict[str, str]) -> dict[str, list[str]]:
    """Return the marks of the files of each engine, by the engine's title: distinct entries in TOML."""
    found: dict[str, list[str]] = {name: [] for name in names.values()}
    for writer, tables in all_facts.items():
        name = names[writer]
        for kind in ("manifest", "manifest-list"):
            for table in tables.values():
                for form in table[kind]:
                    _add(found.setdefault(COMMITTED_BY.get(name, name), []), _entry(kind, form["marks"]))
        for table in tables.values():
            for form in table["data-files"]:
                made_by = program_name(form["created_by"])
                writer_name = LIBRARIES.get(made_by, name)
                _add(found[name], _entry("data-file", {"created_by": made_by, "writer": writer_name}))
    return found


def _entry(kind: str, row: dict[str, str]) -> str:
    return f"[[{kind}]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in row.items())


def _add(entries: list[str], entry: str) -> None:
    if entry not in entries:
        entries.append(entry)


def _fingerprints(engine: EngineFolder, entries: list[str]) -> tuple[Path, str]:
    """Return the file of an engine, and its text with new marks after the handwritten part."""
    path = engine.path / FILE
    written, _, _ = path.read_text(encoding="utf-8").partition(GENERATED)
    return path, written.rstrip("\n") + "\n\n" + GENERATED + "".join("\n" + entry for entry in entries)


def page(all_facts: dict[str, dict[str, JsonObject]], all_indexes: dict[str, JsonObject]) -> str:
    """Return the page ``docs/writers.md``."""
    lines = [
        "# What each engine writes",
        "",
        "How engines write manifests, manifest lists, table metadata and data files, and which rules they break.",
        "`python -m tools.writer_report` writes this page from the tables in",
        "[`vectors/golden/writers`](../vectors/golden/writers). Two statements made each of them: one inserts two",
        "rows, and one deletes one of these. The `fingerprint.json` of each table has the same data, column by column.",
        "Findings are those of `spec_ref`'s checks of single files. `conformance.validator.writers` recognises writers",
        "by what is listed here.",
        "",
        "## How rows are deleted",
        "",
        "| writer | table | deletes by | error message |",
        "|---|---|---|---|",
    ]
    for writer, index in all_indexes.items():
        for name, table in index["tables"].items():
            refused = [step["refused"] for step in table["statements"] if "refused" in step]
            lines.append(f"| {writer} | {name} | {table['delete'] or '-'} | {'; '.join(refused)} |")
    for kind, title in (("manifest", "Manifests"), ("manifest-list", "Manifest lists")):
        lines += [
            "",
            f"## {title}",
            "",
            "| writer | table | header keys | codec | records | optional columns | fields |",
            "|---|---|---|---|---|---|---|",
        ]
        for writer, tables in all_facts.items():
            for name, table in tables.items():
                form = table[kind][0]
                mark = form["marks"]
                defaults = "default null" if mark["defaults"] == "null" else "no default"
                keys = ", ".join(f"`{key}`" for key in mark["keys"].split())
                fields = _unlike(form["columns"], all_facts, kind, name)
                lines.append(
                    f"| {writer} | {name} | {keys} | {mark['codec']} | {mark['records']} | {defaults} | {fields} |"
                )
    lines += ["", "The column *fields* lists the differences from the newest Iceberg-Java.", ""]
    lines += ["## Data files", ""]
    lines += ["| writer | table | created by | keys | codec | columns |", "|---|---|---|---|---|---|"]
    for writer, tables in all_facts.items():
        for name, table in tables.items():
            for form in table["data-files"]:
                created = form["created_by"].partition(" (build")[0]
                keys, codecs = ", ".join(form["keys"]), ", ".join(form["codecs"])
                lines.append(f"| {writer} | {name} | {created} | {keys} | {codecs} | {'; '.join(form['columns'])} |")
    lines += ["", "## Table metadata", ""]
    lines += ["| writer | table | file | members | snapshot | summary |", "|---|---|---|---|---|---|"]
    for writer, tables in all_facts.items():
        for name, table in tables.items():
            facts = table["metadata"]
            members, snapshot, summary = (", ".join(facts[key]) for key in ("members", "snapshot", "summary"))
            lines.append(f"| {writer} | {name} | {facts['file']} | {members} | {snapshot} | {summary} |")
    lines += ["", "## Broken rules", ""]
    lines += ["| writer | tables | in | rule | check | severity | at |", "|---|---|---|---|---|---|---|"]
    for writer, tables in all_facts.items():
        rows: dict[tuple[str, ...], list[str]] = {}
        for name, table in tables.items():
            for finding in table["findings"]:
                key = tuple(finding[part] for part in ("in", "requirement", "check", "severity", "at"))
                rows.setdefault(key, []).append(name)
        for (kind, code, check, severity, place), names in sorted(rows.items()):
            lines.append(f"| {writer} | {', '.join(names)} | {kind} | {code} | {check} | {severity} | `{place}` |")
        if not rows:
            lines.append(f"| {writer} | | | none | | | |")
    return "\n".join(lines) + "\n"


def _unlike(found: list[str], all_facts: dict[str, dict[str, JsonObject]], kind: str, name: str) -> str:
    """Describe how columns differ from those of the newest Iceberg-Java for the same version."""
    newest = sorted(one for one in all_facts if one.startswith("iceberg-java"))[-1]
    base, leaves = (_comparable_columns(one) for one in (all_facts[newest][name][kind][0]["columns"], found))
    left_out = [f"no `{id_}`" for id_ in base if id_ not in leaves]
    other = [f"`{id_}: {type_}`" for id_, type_ in leaves.items() if base.get(id_) != type_]
    common = [[id_ for id_ in one if id_ in base and id_ in leaves] for one in (base, leaves)]
    return "; ".join((*left_out, *other, *(["in a different order"] if common[0] != common[1] else []))) or "-"


def _comparable_columns(found: list[str]) -> dict[str, str]:
    """Return columns without their defaults, which are listed separately, and without the partition of the table."""
    split = (column.partition(" = ")[0].partition(": ") for column in found)
    return {name: type_ for name, _, type_ in split if not name.startswith("1000 ")}


def files() -> dict[Path, str]:
    """Return the content of every generated file, by path."""
    all_facts: dict[str, dict[str, JsonObject]] = {}
    all_indexes: dict[str, JsonObject] = {}
    for folder, index in indexes():
        all_indexes[folder.name] = index
        all_facts[folder.name] = {name: facts(Table(folder, name, index)) for name in index["tables"]}
    made = {
        WRITERS / writer / "fingerprint.json": json.dumps(tables, indent=1) + "\n"
        for writer, tables in all_facts.items()
    }
    names = {writer: NAMES[index["engine"]] for writer, index in all_indexes.items()}
    found = marks(all_facts, names)
    made |= dict(_fingerprints(one, found[one.title]) for one in ENGINES.values() if one.title in found)
    made[DOCUMENT] = page(all_facts, all_indexes)
    return made


def main() -> int:
    """Write or check the files; return 1 if one is stale."""
    stale = [path for path, text in files().items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is stale: run python -m tools.writer_report", file=sys.stderr)
        return 1 if stale else 0
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    run_without_parser(main)
