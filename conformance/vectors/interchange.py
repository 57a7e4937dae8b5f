"""Exchange cases with apache/iceberg-verification: its surfaces `types` and `schema`, and our vectors of types.

Its cases become vectors of the operations `type.parse` and `metadata.read`, with ids that begin with ``iv/``; the
schema of its files is `schemas/cases.json`. The import converts cases as follows:

- That project describes a type in *decoded* form, this one by its spelling. With `canonical`, only that spelling is
  permitted; without it, any spelling of the same type.
- A case with the level *should* also permits a refusal and, if it is about writing, any spelling.
- The rows of a schema become its JSON inside table metadata, of version 3 if a type needs it, else of version 2.
- Underscores in ids become hyphens, and the surface and the directory become part of an id.

The export converts vectors with one outcome to cases; decimals, whose spelling the spec leaves open, become cases
without `canonical`. Defaults of fields, which that project keeps separately, are left out.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from conformance.core.failures import UsageError
from conformance.core.json_text import parse_json, pointer_prefix, shorten
from conformance.core.spec_links import section_link
from conformance.vectors import Vector
from conformance.vectors.lint import canonical
from spec_ref.core.json_types import JsonObject
from spec_ref.requirements import register

PROJECT = "apache/iceberg-verification"
CASE_PREFIX = "iv/"
"""The prefix of the ids of that project's cases."""

SURFACES = {"types": "type.parse", "schema": "metadata.read"}
"""The exchanged surfaces, and the operation that corresponds to each."""

SECTIONS = {"types": "Schemas", "schema": "Schemas"}
DEFAULT_CRS = "OGC:CRS84"
V3 = re.compile("_ns$|^unknown$|^variant$|^geometry|^geography")
_SPELLED = re.compile(r"(\w+)(?:[(\[]\s*(.*?)\s*[)\]])?")


@cache
def _validator(definition: str) -> jsonschema_rs.Validator:
    schema = json.loads((Path(__file__).parents[1] / "schemas" / "cases.json").read_text(encoding="utf-8"))
    return jsonschema_rs.validator_for({"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]})


def case_violation(surface: str, case: Any) -> str | None:
    """Describe how a case violates the schema of its surface; None if it does not."""
    wrong = next(iter(_validator(surface).iter_errors(case)), None)
    return None if wrong is None else f"{pointer_prefix(wrong.instance_path)}{shorten(wrong.message)}"


# Types


def spell_type(decoded: JsonObject) -> JsonObject | str:
    """Return the JSON form of a decoded type, in its full spelling."""
    match decoded["type"]:
        case "decimal":
            return f"decimal({decoded['precision']}, {decoded['scale']})"
        case "fixed":
            return f"fixed[{decoded['length']}]"
        case "geometry":
            return f"geometry({decoded['crs']})"
        case "geography":
            return f"geography({decoded['crs']}, {decoded['algorithm']})"
        case "struct":
            return {"type": "struct", "fields": [{**one, "type": spell_type(one["type"])} for one in decoded["fields"]]}
        case "list":
            return {**decoded, "element": spell_type(decoded["element"])}
        case "map":
            return {**decoded, "key": spell_type(decoded["key"]), "value": spell_type(decoded["value"])}
        case str(name):
            return name
    raise AssertionError(decoded)


def spellings(decoded: JsonObject) -> list[JsonObject | str]:
    """Return all spellings of a type, the full one first."""
    full = spell_type(decoded)
    found = [full]
    if decoded["type"] == "decimal":
        found.append(f"decimal({decoded['precision']},{decoded['scale']})")
    if decoded["type"] in ("geometry", "geography") and decoded.get("algorithm", "spherical") == "spherical":
        plain = decoded["crs"] == DEFAULT_CRS
        found += [f"geography({decoded['crs']})"] if decoded["type"] == "geography" else []
        found += [decoded["type"]] if plain else []
    return found


def decoded_type(type_: JsonObject | str) -> JsonObject:
    """Return the decoded form of a type in JSON."""
    if isinstance(type_, str):
        return _decoded_primitive(type_)
    match type_["type"]:
        case "struct":
            fields = [
                {"id": one["id"], "name": one["name"], "required": one["required"], "type": decoded_type(one["type"])}
                for one in type_["fields"]
            ]
            return {"type": "struct", "fields": fields}
        case "list":
            return {**type_, "element": decoded_type(type_["element"])}
        case "map":
            return {**type_, "key": decoded_type(type_["key"]), "value": decoded_type(type_["value"])}
    return decoded_type(str(type_["type"]))


def _decoded_primitive(text: str) -> JsonObject:
    match = _SPELLED.fullmatch(text)
    assert match, text
    name, parameters = match[1], [one.strip() for one in (match[2] or "").split(",")]
    match name:
        case "decimal":
            return {"type": name, "precision": int(parameters[0]), "scale": int(parameters[1])}
        case "fixed":
            return {"type": name, "length": int(parameters[0])}
        case "geometry":
            return {"type": name, "crs": parameters[0] or DEFAULT_CRS}
        case "geography":
            algorithm = parameters[1] if len(parameters) > 1 else "spherical"
            return {"type": name, "crs": parameters[0] or DEFAULT_CRS, "algorithm": algorithm}
    return {"type": name}


def _names(decoded: JsonObject) -> Iterator[str]:
    """Yield the names of all types in a decoded type."""
    yield decoded["type"]
    children = [one["type"] for one in decoded.get("fields", ())]
    children += [decoded[key] for key in ("element", "key", "value") if key in decoded]
    for child in children:
        yield from _names(child)


# Schemas


def encode_schema(decoded: JsonObject) -> JsonObject:
    """Return the JSON of a schema from its rows."""
    below: dict[int | None, list[JsonObject]] = {}
    for row in decoded["fields"]:
        below.setdefault(row["parent"], []).append(row)

    def encode_type(row: JsonObject) -> JsonObject | str:
        if isinstance(row["type"], dict):
            return spell_type(row["type"])
        children = below.get(row["id"], [])
        match row["type"]:
            case "struct":
                return {"type": "struct", "fields": list(map(encode_field, children))}
            case "list":
                (element,) = children
                known = {"element-id": element["id"], "element-required": element["required"]}
                return {"type": "list", **known, "element": encode_type(element)}
            case "map":
                key, value = children
                known = {"key-id": key["id"], "value-id": value["id"], "value-required": value["required"]}
                return {"type": "map", **known, "key": encode_type(key), "value": encode_type(value)}
        return spell_type(decoded_type(row["type"]))

    def encode_field(row: JsonObject) -> JsonObject:
        field = {"id": row["id"], "name": row["name"], "required": row["required"], "type": encode_type(row)}
        return field if row["doc"] is None else {**field, "doc": row["doc"]}

    schema: JsonObject = {
        "type": "struct",
        "schema-id": decoded["schema-id"],
        "fields": list(map(encode_field, below.get(None, []))),
    }
    ids = decoded["identifier-field-ids"]
    return {**schema, "identifier-field-ids": ids} if ids else schema


def decode_schema(schema: JsonObject) -> JsonObject:
    """Return the rows of a schema."""

    def walk(
        field_id: int, name: str, parent: int | None, required: bool, type_: Any, doc: str | None
    ) -> Iterator[JsonObject]:
        nested = isinstance(type_, dict) and type_["type"] in ("struct", "list", "map")
        shown = type_["type"] if nested else spell_type(decoded_type(type_))
        yield {"id": field_id, "name": name, "parent": parent, "required": required, "type": shown, "doc": doc}
        if not nested:
            return
        for one in type_.get("fields", ()):
            yield from walk(one["id"], one["name"], field_id, one["required"], one["type"], one.get("doc"))
        if type_["type"] == "list":
            yield from walk(type_["element-id"], "element", field_id, type_["element-required"], type_["element"], None)
        if type_["type"] == "map":
            yield from walk(type_["key-id"], "key", field_id, True, type_["key"], None)  # noqa: FBT003
            yield from walk(type_["value-id"], "value", field_id, type_["value-required"], type_["value"], None)

    rows = [
        row
        for one in schema["fields"]
        for row in walk(one["id"], one["name"], None, one["required"], one["type"], one.get("doc"))
    ]
    ids = schema.get("identifier-field-ids", [])
    return {"schema-id": schema.get("schema-id", 0), "identifier-field-ids": ids, "fields": rows}


def empty_table_metadata(schema: JsonObject, version: int) -> JsonObject:
    """Return the metadata of an empty table with a schema."""
    ids = [int(one) for one in re.findall(r'"(?:id|element-id|key-id|value-id)": (-?\d+)', json.dumps(schema))]
    return {
        "format-version": version,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": "s3://bucket/table",
        "last-sequence-number": 0,
        **({"next-row-id": 0} if version > 2 else {}),
        "last-updated-ms": 1600000000000,
        "last-column-id": max(ids, default=0),
        "schemas": [schema],
        "current-schema-id": schema.get("schema-id", 0),
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "default-spec-id": 0,
        "last-partition-id": 999,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
    }


# Import


def import_cases(checkout: Path, commit: str) -> dict[str, JsonObject]:
    """Convert the cases of a checkout to vector files, by their path below a folder of vectors.

    Args:
        checkout: the root of the other project.
        commit: its commit, for the origins of vectors.

    Raises:
        UsageError: there are no cases, or a file is malformed; the message names the place.
    """
    found: dict[str, JsonObject] = {}
    for surface in SURFACES:
        for path in sorted((checkout / "table-spec" / surface).glob("*/cases.json")):
            directory = path.parent.name.replace("_", "-").lower()
            cases = _cases(path, surface)
            found |= vector_file(surface, directory, commit, cases)
    if not found:
        raise UsageError(f"{checkout}: no table-spec/*/*/cases.json below it: not a checkout of {PROJECT}")
    return found


def _cases(path: Path, surface: str) -> list[JsonObject]:
    try:
        content = parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    if not isinstance(content, dict) or not isinstance(content.get("cases"), list):
        raise UsageError(f"{path}: not a file of cases: /cases must be a list")
    for index, case in enumerate(content["cases"]):
        wrong = case_violation(surface, case)
        if wrong is not None:
            raise UsageError(f"{path}: not a case of {surface}: /cases/{index}{wrong}")
    cases: list[JsonObject] = content["cases"]
    return cases


def vector_file(surface: str, directory: str, commit: str, cases: Iterable[JsonObject]) -> dict[str, JsonObject]:
    """Convert the cases of one directory to a vector file, by its path below a folder of vectors."""
    origin = f"{commit[:12]} table-spec/{surface}/{directory}"
    rows = [_vector(surface, directory, case, origin) for case in cases]
    suite = f"iv-{surface}"
    document = {"suite": suite, "operation": SURFACES[surface], "section": SECTIONS[surface], "vectors": rows}
    return {f"{suite}/{directory}.json": document}


def _vector(surface: str, directory: str, case: JsonObject, place_: str) -> JsonObject:
    make = _type_vector if surface == "types" else _schema_vector
    args, outcomes, versions, codes = make(case)
    name = re.sub("[^a-z0-9]+", "-", case["id"].lower()).strip("-")
    row = {
        "id": f"{CASE_PREFIX}{surface}-{directory}-{name}",
        "requirements": codes,
        "versions": versions,
        "args": args,
        "expect": outcomes[0] if len(outcomes) == 1 else {"any_of": outcomes},
        "origin": f"spec: as read by {PROJECT} {place_}",
    }
    return {**row, "note": case["clause"]} if case.get("clause") else row


INVALID: JsonObject = {"error": "invalid"}
_Parts = tuple[JsonObject, list[JsonObject], list[int], list[str]]


def _type_vector(case: JsonObject) -> _Parts:
    codes = ["JSC003"] if isinstance(case["input"], str) else ["JSC006", "JSC007"]
    if not case["valid"]:
        new = isinstance(case["input"], str) and V3.search(case["input"])
        return {"type": case["input"]}, [INVALID], [3] if new else [1, 2, 3], codes
    decoded, advisory = case["decoded"], case.get("normative_level") == "should"
    ways: list[Any] = [case["canonical"]] if "canonical" in case else spellings(decoded)
    if advisory:
        ways = list(dict.fromkeys([*ways, *spellings(decoded)])) if isinstance(ways[0], str) else ways
    versions = [3] if any(V3.search(name) for name in _names(decoded)) else [1, 2, 3]
    return {"type": case["input"]}, [{"ok": way} for way in ways] + ([INVALID] if advisory else []), versions, codes


def _schema_vector(case: JsonObject) -> _Parts:
    text = json.dumps(case["input"])
    version = 3 if any(V3.search(word) for word in re.findall(r'"type": "([^"]*)"', text)) else 2
    args = {"metadata": empty_table_metadata(case["input"], version), "select": ["schemas"]}
    codes = ["IDF001", "IDF002", "IDF003", "JSC006"] if case["input"].get("identifier-field-ids") else ["JSC006"]
    if not case["valid"]:
        return args, [INVALID], [version], codes
    return args, [{"ok": {"schemas": [encode_schema(case["decoded"])]}}], [version], codes


def write_vectors(folder: Path, documents: dict[str, JsonObject]) -> None:
    """Write vector files below a folder."""
    for name, document in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(canonical(document), encoding="utf-8")


# Export


def export_cases(vectors: Sequence[Vector]) -> dict[str, JsonObject]:
    """Convert our vectors of types to files of cases, by their path; structs become schemas, too."""
    found: dict[str, list[JsonObject]] = {}
    for vector in vectors:
        if vector.operation.name != "type.parse" or "-default" in json.dumps(vector.args):
            continue
        if vector.id.startswith(CASE_PREFIX):
            continue
        for path, case in itertools.chain(_type_case(vector), _schema_case(vector)):
            found.setdefault(path, []).append(case)
    return {path: {"cases": cases} for path, cases in sorted(found.items())}


def _type_case(vector: Vector) -> Iterator[tuple[str, JsonObject]]:
    outcomes = vector.expect.get("any_of", [vector.expect])
    type_ = vector.args["type"]
    if '"doc"' in json.dumps(type_):
        return  # a decoded type has no doc, but the rows of a schema do
    about = {"clause": vector.note or register()[vector.requirements[0]].text, "spec_ref": _reference(vector)}
    accepted = [one["ok"] for one in outcomes if "ok" in one]
    case: JsonObject = {"id": vector.id, "valid": bool(accepted), "input": type_}
    if accepted and len(accepted) < len(outcomes):
        return  # readers may accept the type or refuse it, which cases cannot express
    if accepted:
        meanings = [decoded_type(one) for one in accepted]
        if any(one != meanings[0] for one in meanings):
            return
        case["decoded"] = meanings[0]
        if len(accepted) == 1 and isinstance(accepted[0], str):
            case["canonical"] = accepted[0]
    yield f"table-spec/types/{_directory(type_)}/cases.json", {**case, **about}


def _schema_case(vector: Vector) -> Iterator[tuple[str, JsonObject]]:
    type_, outcome = vector.args["type"], vector.expect
    if not isinstance(type_, dict) or type_.get("type") != "struct" or "ok" not in outcome:
        return
    names = set(_names(decoded_type(type_)))
    new = sorted(name for name in names if V3.search(name))
    directory = new[0].replace("_", "-") if new else "core"
    case = {"id": vector.id, "valid": True, "input": {"type": "struct", "schema-id": 0, "fields": type_["fields"]}}
    yield (
        f"table-spec/schema/{directory}/cases.json",
        {**case, "decoded": decode_schema(outcome["ok"] | {"schema-id": 0})},
    )


def _directory(type_: Any) -> str:
    name = type_ if isinstance(type_, str) else ""
    if name.lower().startswith(("geometry", "geography")):
        return "geospatial"
    if name.startswith("variant"):
        return "variant"
    return "primitive" if isinstance(type_, str) else "nested"


def _reference(vector: Vector) -> str:
    return "format/" + section_link(register()[vector.requirements[0]]).partition("/format/")[2]


def write_cases(folder: Path, documents: dict[str, JsonObject]) -> None:
    """Write files of cases below a folder, with one line for each case."""
    for name, document in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(f"    {json.dumps(case)}" for case in document["cases"])
        path.write_text(f'{{\n  "cases": [\n{lines}\n  ]\n}}\n', encoding="utf-8")


def count_cases(documents: Iterable[JsonObject], key: str) -> int:
    """Count the cases or vectors in some files."""
    return sum(len(document[key]) for document in documents)
