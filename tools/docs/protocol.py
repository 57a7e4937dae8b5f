"""The operations of the protocol, from the folders of their families in ``conformance/operations``.

    python -m tools.docs.protocol          write the READMEs of the families and ``docs/protocol.md``
    python -m tools.docs.protocol --check  verify them

In a README, ``<!-- operations -->`` precedes the table of the operations and ``<!-- example: VECTOR -->`` the messages
of a vector. The page has a section for each family, its README, after ``<!-- family: FOLDER -->``; families without
such a mark follow ``<!-- family: * -->``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from conformance import vectors
from conformance.operations.families import Family, families
from conformance.operations.schemas import protocol_schema
from spec_ref.core.json_types import JsonObject
from tools.docs.html import vector_link
from tools.docs.markdown import code, plain, table
from tools.entry_point import run_without_parser

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "protocol.md"
BLOCK = re.compile(r"(<!-- (operations|example|family)(?:: (\S+))? -->\n).*?(<!-- end of \2 -->)", re.DOTALL)
HEADING = re.compile(r"(?m)^#(?=#* )")

SHORT = 80
"""The maximum number of characters of a form in a table."""

LONG = 80
"""The maximum number of characters of a text that an example shows in full."""


def definitions() -> JsonObject:
    """Return the definitions of the schema."""
    found: JsonObject = protocol_schema()["$defs"]
    return found


def operations(defs: JsonObject) -> list[str]:
    """Return the names of all operations, in the order of the schema."""
    names = [one["$ref"].removeprefix("#/$defs/").removesuffix(".request") for one in defs["ask"]["oneOf"]]
    assert len(set(names)) == len(names), "an operation is listed twice"
    return names


def resolve_reference(defs: JsonObject, schema: JsonObject) -> tuple[str, JsonObject]:
    """Resolve the reference of a schema; return the schema and the name that it refers to."""
    name = ""
    while "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        schema = {**defs[name], **{key: value for key, value in schema.items() if key != "$ref"}}
    return name, schema


def shape(defs: JsonObject, schema: JsonObject, depth: int = 0) -> str:
    """Describe the form of a value in a few words: ``{"rows": [...]}``, ``hexadecimal``, ``integer or null``."""
    name, schema = resolve_reference(defs, schema)
    if name in ("hexadecimal", "value", "type") or (name and depth > 0 and "properties" in schema):
        return name.replace("_", " ").replace("-", " ")
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(shape(defs, one, depth) for one in options))
    if "const" in schema or "enum" in schema:
        return " or ".join(json.dumps(one) for one in schema.get("enum", [schema.get("const")]))
    types = schema.get("type", "any JSON")
    types = [types] if isinstance(types, str) else types
    return " or ".join(_type_shape(defs, schema, one, depth) for one in types)


def _type_shape(defs: JsonObject, schema: JsonObject, type_: str, depth: int) -> str:
    if type_ == "object" and schema.get("properties"):
        if depth > 1:
            return "{...}"
        members = (f'"{name}": {shape(defs, one, depth + 1)}' for name, one in schema["properties"].items())
        return "{" + ", ".join(members) + "}"
    if type_ == "array":
        items = schema.get("items")
        return f"[{shape(defs, items, depth + 1)}, ...]" if isinstance(items, dict) and items else "[...]"
    if type_ == "string" and "[0-9]{0,18}" in schema.get("pattern", ""):
        return "long"
    return "{...}" if type_ == "object" else type_


def arguments(defs: JsonObject, name: str) -> Iterator[tuple[str, bool, JsonObject]]:
    """Yield each argument of an operation: its name, whether it is required, and its schema."""
    _, args = resolve_reference(defs, {"$ref": f"#/$defs/{name}.args"})
    for one, schema in args["properties"].items():
        yield one, one in args.get("required", ()), schema


def rows(defs: JsonObject, names: list[str]) -> list[str]:
    """Return the table of some operations."""
    cells = []
    for name in names:
        listed = (code(one) if needed else f"[{code(one)}]" for one, needed, _ in arguments(defs, name))
        form = shape(defs, {"$ref": f"#/$defs/{name}.answer"})
        about = plain(defs[f"{name}.request"]["description"])
        cells.append([code(name), ", ".join(listed), f"{about} {code(form)}" if len(form) <= SHORT else about])
    return table(["operation", "arguments", "answer"], cells)


def _shorten(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shorten(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_shorten(item) for item in value]
    return f"{value[: LONG - 16]}..." if isinstance(value, str) and len(value) > LONG else value


@cache
def _vectors() -> dict[str, vectors.Vector]:
    return {vector.id: vector for vector in vectors.load(vectors.shipped())}


def example(name: str) -> str:
    """Return the request and the answer of a vector."""
    assert name in _vectors(), f"there is no vector {name}"
    vector = _vectors()[name]
    assert "ok" in vector.expect, f"{name}: an example must have one answer"
    request = {"seq": 1, "op": vector.operation.name, "args": vector.args}
    lines = [json.dumps(_shorten(one), ensure_ascii=False) for one in (request, {"seq": 1, **vector.expect})]
    return "\n".join(["```json", *lines, "```"])


@cache
def _plainest() -> dict[str, str]:
    """Return the vector with the shortest messages of each operation, among those without empty or zero values."""
    found: dict[str, tuple[int, str]] = {}
    for vector in _vectors().values():
        value = vector.expect.get("ok")
        if value in (None, [], {}, "", 0, "0") or vector.contradiction or vector.args.get("value", 1) in (None, "", 0):
            continue
        size = len(json.dumps(vector.args)) + len(json.dumps(value))
        found[vector.operation.name] = min(found.get(vector.operation.name, (size, vector.id)), (size, vector.id))
    return {operation: id_ for operation, (_, id_) in found.items()}


def _messages(name: str) -> Iterator[str]:
    """Yield the lines of an example of an operation's messages."""
    id_ = _plainest().get(name)
    if id_ is not None:
        suite = _vectors()[id_].suite
        yield from (f"The messages of the vector {vector_link(suite, id_)}:", "", *example(id_).splitlines(), "")


def readme(family: Family) -> str:
    """Return the README of a family, with its table and its examples."""
    defs = definitions()

    def fill(match: re.Match[str]) -> str:
        made = example(match[3]) if match[2] == "example" else "\n".join(rows(defs, list(family.operations)))
        return f"{match[1]}\n{made}\n\n{match[4]}"

    text = (family.path / "README.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {family.title}\n"), f"{family.path}/README.md: expected the heading {family.title!r}"
    assert "<!-- operations -->" in text, f"{family.path}/README.md: expected a table of operations"
    assert "```json" in text or "<!-- example: " in text, f"{family.path}/README.md: expected an example"
    return BLOCK.sub(fill, text)


def section(family: Family) -> str:
    """Return a README as a section of the page: one heading level lower, without marks."""
    text = re.sub(r"<!-- .*? -->\n+", "", readme(family))
    return HEADING.sub("##", text).strip()


def page(text: str) -> str:
    """Return the page with the current sections of the families."""
    missing = {family.name: family for family in families()}
    named = [match[3] for match in BLOCK.finditer(text) if match[3] != "*"]
    wrong = [name for name in named if name not in missing or named.count(name) > 1]
    assert not wrong, f"docs/protocol.md: a family that does not exist or occurs twice: {', '.join(wrong)}"

    def fill(match: re.Match[str]) -> str:
        chosen = [family for name, family in missing.items() if name == match[3] or match[3] == "*"]
        chosen = [family for family in chosen if match[3] != "*" or family.name not in named]
        return "\n".join([match[1], *(f"{section(family)}\n" for family in chosen), match[4]])

    return BLOCK.sub(fill, text)


def reference() -> str:
    """Return the page of all operations with their arguments and answers."""
    defs = definitions()
    lines = [
        "# All operations",
        "",
        "Made from the JSON Schema of the protocol, `conformance/schemas/protocol.json`. [The protocol](protocol.md)",
        "describes what these operations mean. A *long* is a decimal string.",
        "",
    ]
    for name in operations(defs):
        lines += [f"## {name}", "", plain(defs[f"{name}.request"]["description"]), ""]
        cells = []
        for one, needed, schema in arguments(defs, name):
            _, target = resolve_reference(defs, schema)
            about = schema.get("description") or target.get("description", "")
            cells.append(
                [code(one), "" if needed else "optional", code(shape(defs, schema).replace("|", "/")), plain(about)]
            )
        lines += [*table(["argument", "", "form", "meaning"], cells), ""]
        lines += ["The answer:", "", "```text", shape(defs, {"$ref": f"#/$defs/{name}.answer"}), "```", ""]
        if about := defs[f"{name}.answer"].get("description"):
            lines += [plain(about), ""]
        lines += _messages(name)
    return "\n".join(lines)


def generated_pages() -> dict[Path, str]:
    """Return the current READMEs of the families in this package, and the current page."""
    ours = [family for family in families() if ROOT in family.path.parents]
    readmes = {family.path / "README.md": readme(family) for family in ours}
    return {**readmes, PAGE: page(PAGE.read_text(encoding="utf-8"))}


def main(arguments_: list[str]) -> int:
    """Write or check the READMEs and the page; return the exit status."""
    stale = [path for path, text in generated_pages().items() if path.read_text(encoding="utf-8") != text]
    if "--check" not in arguments_:
        for path, text in generated_pages().items():
            path.write_text(text, encoding="utf-8")
    elif stale:
        names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
        print(f"{names}: stale; run python -m tools.docs.protocol", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    run_without_parser(main, sys.argv[1:])
