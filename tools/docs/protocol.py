"""The operations of the protocol, from ``conformance/schemas/protocol.json``.

    python -m tools.docs.protocol          write the tables of ``docs/protocol.md`` anew
    python -m tools.docs.protocol --check  verify them, and that each operation stands in one

A table of the page stands between ``<!-- operations: NAME, NAME.*, ... -->`` and ``<!-- end of operations -->``.
"""

from __future__ import annotations

import fnmatch
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.docs.markdown import code, plain, table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "protocol.md"
SCHEMA = ROOT / "conformance" / "schemas" / "protocol.json"
BLOCK = re.compile(r"(<!-- operations: (.*?) -->\n).*?(<!-- end of operations -->)", re.DOTALL)

SHORT = 80
"""The characters of a form that fits in a table."""

Json = dict[str, Any]


def definitions() -> Json:
    """The definitions of the schema."""
    found: Json = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    return found


def operations(defs: Json) -> list[str]:
    """The names of all operations, in the order in which the schema lists them."""
    names = [one["$ref"].removeprefix("#/$defs/").removesuffix(".request") for one in defs["ask"]["oneOf"]]
    assert len(set(names)) == len(names), "an operation is listed twice"
    return names


def resolved(defs: Json, schema: Json) -> tuple[str, Json]:
    """A schema with its reference followed, and the name of what it refers to."""
    name = ""
    while "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        schema = {**defs[name], **{key: value for key, value in schema.items() if key != "$ref"}}
    return name, schema


def shape(defs: Json, schema: Json, depth: int = 0) -> str:
    """The form of a value in a few words: ``{"rows": [...]}``, ``hexadecimal``, ``integer or null``."""
    name, schema = resolved(defs, schema)
    if name in ("hexadecimal", "value", "type") or (name and depth > 0 and "properties" in schema):
        return name.replace("_", " ").replace("-", " ")
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(shape(defs, one, depth) for one in options))
    if "const" in schema or "enum" in schema:
        return " or ".join(json.dumps(one) for one in schema.get("enum", [schema.get("const")]))
    types = schema.get("type", "any JSON")
    types = [types] if isinstance(types, str) else types
    return " or ".join(_of_type(defs, schema, one, depth) for one in types)


def _of_type(defs: Json, schema: Json, type_: str, depth: int) -> str:
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


def arguments(defs: Json, name: str) -> Iterator[tuple[str, bool, Json]]:
    """Each argument of an operation: its name, whether it has to be there, and its schema."""
    _, args = resolved(defs, {"$ref": f"#/$defs/{name}.args"})
    for one, schema in args["properties"].items():
        yield one, one in args.get("required", ()), schema


def rows(defs: Json, names: list[str]) -> list[str]:
    """The table of some operations."""
    told = []
    for name in names:
        listed = (code(one) if needed else f"[{code(one)}]" for one, needed, _ in arguments(defs, name))
        form = shape(defs, {"$ref": f"#/$defs/{name}.answer"})
        about = plain(defs[f"{name}.request"]["description"])
        told.append([code(name), ", ".join(listed), f"{about} {code(form)}" if len(form) <= SHORT else about])
    return table(["operation", "arguments", "answer"], told)


def with_tables(text: str, defs: Json) -> str:
    """The page with its tables as the schema has them."""
    names = operations(defs)
    placed: list[str] = []

    def fill(match: re.Match[str]) -> str:
        wanted = re.split(r",\s*", match[2])
        chosen = [name for pattern in wanted for name in names if fnmatch.fnmatchcase(name, pattern)]
        assert chosen, f"no operation is {match[2]}"
        placed.extend(chosen)
        return match[1] + "\n" + "\n".join(rows(defs, chosen)) + "\n\n" + match[3]

    made = BLOCK.sub(fill, text)
    wrong = sorted({name for name in placed if placed.count(name) > 1} | (set(names) - set(placed)))
    assert not wrong, f"docs/protocol.md: not in exactly one table: {', '.join(wrong)}"
    return made


def reference() -> str:
    """The page of all operations with their arguments and answers."""
    defs = definitions()
    lines = [
        "# All operations",
        "",
        "Made from the JSON Schema of the protocol, `conformance/schemas/protocol.json`. What these operations mean is",
        "told in [the protocol](protocol.md); a *long* is a decimal string.",
        "",
    ]
    for name in operations(defs):
        lines += [f"## {name}", "", plain(defs[f"{name}.request"]["description"]), ""]
        told = []
        for one, needed, schema in arguments(defs, name):
            _, target = resolved(defs, schema)
            about = schema.get("description") or target.get("description", "")
            told.append(
                [code(one), "" if needed else "optional", code(shape(defs, schema).replace("|", "/")), plain(about)]
            )
        lines += [*table(["argument", "", "form", "meaning"], told), ""]
        lines += ["The answer:", "", "```text", shape(defs, {"$ref": f"#/$defs/{name}.answer"}), "```", ""]
        if about := defs[f"{name}.answer"].get("description"):
            lines += [plain(about), ""]
    return "\n".join(lines)


def main(arguments_: list[str]) -> int:
    """Write or check the tables; the exit status."""
    old = PAGE.read_text(encoding="utf-8")
    new = with_tables(old, definitions())
    if "--check" not in arguments_:
        PAGE.write_text(new, encoding="utf-8")
    elif old != new:
        print("docs/protocol.md is stale: python -m tools.docs.protocol writes it anew", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
