"""Exchanging cases with apache/iceberg-verification: import, export, and the normalizations of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from shipped_vectors import shipped_vectors

from conformance import vectors
from conformance.adapter_sdk.serve import perform
from conformance.cli import main
from conformance.core.failures import UsageError
from conformance.engines.reference import adapter as reference
from conformance.operations.protocol import Ok, Refused
from conformance.runner.judge import Outcome, judge_answer
from conformance.vectors.interchange import (
    case_violation,
    decode_schema,
    decoded_type,
    encode_schema,
    export_cases,
    import_cases,
    spell_type,
    spellings,
)
from conformance.vectors.lint import canonical
from tools.golden import make_verification

TEXT = {"clause": "the rule", "spec_ref": "format/spec.md#schemas"}
COMMIT = "0123456789abcdef"


def checkout(folder: Path, **surfaces: dict[str, list[Any]]) -> Path:
    """A checkout with the cases of some surfaces and directories."""
    for surface, directories in surfaces.items():
        for directory, cases in directories.items():
            path = folder / "table-spec" / surface / directory / "cases.json"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps({"cases": cases}))
    return folder


def case(id_: str, input_: Any, decoded: Any = None, **more: Any) -> dict[str, Any]:
    valid = decoded is not None
    return {"id": id_, "valid": valid, "input": input_, **({"decoded": decoded} if valid else {}), **more}


def outcomes(folder: Path) -> dict[str, Outcome]:
    """Return the outcomes of the reference for the vectors of a folder."""
    found = {}
    for vector in vectors.load(folder):
        answer = perform(reference.operations(), vector.operation.name, vector.args, reference.REFUSALS)
        asked = Ok(answer["ok"]) if "ok" in answer else Refused(answer["error"]["kind"])
        found[vector.id] = judge_answer(vector, asked).outcome
    return found


def test_what_we_export_comes_back_and_the_reference_still_passes_it(tmp_path: Path) -> None:
    assert main(["vectors", "export", str(tmp_path / "out")]) == 0
    assert main(["vectors", "import", str(tmp_path / "out"), str(tmp_path / "back"), "--commit", COMMIT]) == 0
    ours = {vector.id: vector for vector in shipped_vectors() if vector.operation.name == "type.parse"}
    back = {vector.id: vector for vector in vectors.load(tmp_path / "back")}
    assert back
    for id_, vector in back.items():
        own = ours[id_.partition("-")[2].partition("-")[2] if not id_.startswith("iv/schema") else id_.split("-", 2)[2]]
        if vector.operation.name == "type.parse":
            assert vector.args == own.args
            permitted = vector.expect.get("any_of", [vector.expect])
            assert all(one in permitted for one in own.expect.get("any_of", [own.expect])), id_
            assert len({json.dumps(decoded_type(one["ok"])) for one in permitted if "ok" in one}) <= 1
    assert set(outcomes(tmp_path / "back").values()) == {Outcome.PASSED}


def test_each_exported_case_is_of_the_form_of_its_surface_and_none_is_there_twice() -> None:
    documents = export_cases(shipped_vectors())
    assert {path.split("/")[1] for path in documents} == {"types", "schema"}
    ids: dict[str, list[str]] = {}
    for path, document in documents.items():
        surface = path.split("/")[1]
        for one in document["cases"]:
            assert case_violation(surface, one) is None, one
            ids.setdefault(surface, []).append(one["id"])
    assert all(len(set(found)) == len(found) for found in ids.values())
    cases = {one["id"]: one for document in documents.values() for one in document["cases"]}
    assert cases["type-decimal-9-2"]["decoded"] == {"type": "decimal", "precision": 9, "scale": 2}
    assert "canonical" not in cases["type-decimal-9-2"]
    assert cases["type-string"]["canonical"] == "string"
    assert cases["type-string"]["spec_ref"].startswith("format/spec.md#")
    assert cases["type-refuse-decimal-39"]["valid"] is False
    assert "type-decimal-5-10" not in cases  # the spec leaves open whether it is valid
    assert not [one for one in cases.values() if "-default" in json.dumps(one.get("input"))]


def test_cases_of_types_become_vectors(tmp_path: Path) -> None:
    decimal = {"type": "decimal", "precision": 20, "scale": 3}
    sphere = {"type": "geography", "crs": "OGC:CRS84", "algorithm": "spherical"}
    place = checkout(
        tmp_path / "theirs",
        types={
            "primitive": [
                case("short_one", "decimal(20,3)", decimal, canonical="decimal(20, 3)", **TEXT),
                case("free", "decimal(20,3)", decimal, **TEXT),
                case("advised", "decimal( 20,3 )", decimal, normative_level="should", **TEXT),
                case("refused", "decimal(20;3)", **TEXT),
            ],
            "geospatial": [case("bare", "geography", sphere, **TEXT)],
        },
    )
    documents = import_cases(place, COMMIT)
    assert set(documents) == {"iv-types/primitive.json", "iv-types/geospatial.json"}
    rows = {row["id"]: row for document in documents.values() for row in document["vectors"]}
    wide, tight = {"ok": "decimal(20, 3)"}, {"ok": "decimal(20,3)"}
    assert rows["iv/types-primitive-short-one"]["expect"] == wide
    assert rows["iv/types-primitive-free"]["expect"] == {"any_of": [wide, tight]}
    assert rows["iv/types-primitive-advised"]["expect"] == {"any_of": [wide, tight, {"error": "invalid"}]}
    assert rows["iv/types-primitive-refused"]["expect"] == {"error": "invalid"}
    assert rows["iv/types-geospatial-bare"]["versions"] == [3]
    assert rows["iv/types-primitive-free"]["versions"] == [1, 2, 3]
    assert "0123456789ab table-spec/types/primitive" in rows["iv/types-primitive-free"]["origin"]
    assert main(["vectors", "import", str(place), str(tmp_path / "here"), "--commit", COMMIT]) == 0
    assert set(outcomes(tmp_path / "here").values()) == {Outcome.PASSED}


def test_cases_of_schemas_become_metadata_that_is_read(tmp_path: Path) -> None:
    schema = {
        "type": "struct",
        "schema-id": 3,
        "identifier-field-ids": [5],
        "fields": [
            {"id": 5, "name": "k", "required": True, "type": "string", "doc": "the key"},
            {
                "id": 1,
                "name": "m",
                "required": False,
                "type": {
                    "type": "map",
                    "key-id": 2,
                    "key": "int",
                    "value-id": 3,
                    "value-required": True,
                    "value": {"type": "list", "element-id": 4, "element-required": False, "element": "decimal(9,2)"},
                },
            },
        ],
    }
    decoded = decode_schema(schema)
    assert [(row["id"], row["parent"], row["name"], row["type"]) for row in decoded["fields"]] == [
        (5, None, "k", "string"),
        (1, None, "m", "map"),
        (2, 1, "key", "int"),
        (3, 1, "value", "list"),
        (4, 3, "element", "decimal(9, 2)"),
    ]
    objects = json.loads(json.dumps(decoded))
    objects["fields"][4]["type"] = {"type": "decimal", "precision": 9, "scale": 2}
    swapped = json.loads(json.dumps(decoded))
    swapped["fields"][:2] = [decoded["fields"][1], decoded["fields"][0]]
    new = {"id": 1, "name": "t", "required": False, "type": "timestamp_ns"}
    place = checkout(
        tmp_path / "theirs",
        schema={
            "core": [
                case("rows", schema, decoded),
                case("decimals-as-objects", schema, objects),
                case("another-order", schema, swapped),
                case("no-fields", {"type": "struct", "schema-id": 0}),
            ],
            "timestamp-ns": [
                case(
                    "nanoseconds",
                    {"type": "struct", "schema-id": 0, "fields": [new]},
                    {"schema-id": 0, "identifier-field-ids": [], "fields": [{**new, "parent": None, "doc": None}]},
                )
            ],
        },
    )
    assert main(["vectors", "import", str(place), str(tmp_path / "here"), "--commit", COMMIT]) == 0
    assert outcomes(tmp_path / "here") == {
        "iv/schema-core-rows": Outcome.PASSED,
        "iv/schema-core-decimals-as-objects": Outcome.PASSED,
        "iv/schema-core-another-order": Outcome.FAILED,
        "iv/schema-core-no-fields": Outcome.PASSED,
        "iv/schema-timestamp-ns-nanoseconds": Outcome.PASSED,
    }


@pytest.mark.parametrize(
    "type_",
    [
        "int",
        "timestamp_ns",
        "decimal(9, 2)",
        "fixed[16]",
        "geometry(srid:1)",
        "geography(srid:1, karney)",
        {"type": "list", "element-id": 2, "element-required": True, "element": "fixed[1]"},
        {
            "type": "map",
            "key-id": 2,
            "key": "string",
            "value-id": 3,
            "value-required": False,
            "value": {"type": "struct", "fields": [{"id": 4, "name": "a", "required": True, "type": "decimal(1, 0)"}]},
        },
    ],
    ids=str,
)
def test_types_survive_being_decoded(type_: Any) -> None:
    assert spell_type(decoded_type(type_)) == type_
    assert all(decoded_type(one) == decoded_type(type_) for one in spellings(decoded_type(type_)))


def test_a_schema_survives_its_rows() -> None:
    ours = [vector for vector in shipped_vectors() if vector.operation.name == "type.parse"]
    found = [one for path, document in export_cases(ours).items() if "/schema/" in path for one in document["cases"]]
    accepted = {vector.id: vector.args["type"] for vector in ours if "ok" in vector.expect}
    structs = {id_ for id_, type_ in accepted.items() if isinstance(type_, dict) and type_["type"] == "struct"}
    structs -= {id_ for id_ in structs if '-default"' in json.dumps(accepted[id_])}
    assert {one["id"] for one in found} == structs
    for one in found:
        assert decode_schema(encode_schema(one["decoded"])) == one["decoded"]


@pytest.mark.parametrize(
    ("surface", "one", "expected"),
    [
        ("types", {"id": "a", "valid": True, "input": "int", **TEXT}, "decoded"),
        ("types", {"id": "a", "valid": False, "input": "int", "decoded": {"type": "int"}, **TEXT}, ""),
        ("types", {"id": "a", "valid": False, "input": "int", "canonical": "int", **TEXT}, ""),
        ("types", {"id": "a", "valid": False, "input": "int"}, "clause"),
        (
            "types",
            {"id": "a", "valid": True, "input": "int", "decoded": {"type": "int", "width": 4}, **TEXT},
            "/decoded",
        ),
        ("types", {"id": "a", "valid": True, "input": "x", "decoded": {"type": "fixed"}, **TEXT}, "/decoded"),
        ("types", {"id": "a", "valid": False, "input": "int", "normative_level": "may", **TEXT}, "/normative_level"),
        ("schema", {"id": "a", "valid": True, "input": {}, "decoded": {"fields": []}}, "/decoded"),
        ("schema", {"id": "a", "valid": False, "input": "int"}, "/input"),
        ("schema", {"valid": False, "input": {}}, "id"),
        ("schema", {"id": "a", "valid": False, "input": {}, "extra": 1}, "extra"),
    ],
)
def test_what_is_not_of_the_form_is_reported_with_its_place(
    tmp_path: Path, surface: str, one: dict[str, Any], expected: str
) -> None:
    with pytest.raises(UsageError, match=rf"cases.json: not a case of {surface}: /cases/0") as caught:
        import_cases(checkout(tmp_path, **{surface: {"core": [one]}}), COMMIT)
    assert expected in str(caught.value)


def test_what_cannot_be_imported_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "import", str(tmp_path), str(tmp_path / "out"), "--commit", COMMIT]) == 2
    assert "not a checkout of apache/iceberg-verification" in capsys.readouterr().err
    assert main(["vectors", "import", str(tmp_path), str(tmp_path / "out"), "--commit", "main"]) == 2
    path = checkout(tmp_path, types={"core": []}) / "table-spec/types/core/cases.json"
    path.write_text("{")
    assert main(["vectors", "import", str(tmp_path), str(tmp_path / "out"), "--commit", COMMIT]) == 2
    path.write_text("[]")
    assert main(["vectors", "import", str(tmp_path), str(tmp_path / "out"), "--commit", COMMIT]) == 2
    assert "/cases must be a list" in capsys.readouterr().err


def test_the_suites_of_the_other_project_are_what_is_made_of_its_cases() -> None:
    documents = make_verification.documents()
    shipped = vectors.shipped()
    assert sum(len(document["vectors"]) for document in documents.values()) == 75
    for name, document in documents.items():
        assert (shipped / name).read_text(encoding="utf-8") == canonical(document), name
    assert {path.relative_to(shipped).as_posix() for path in shipped.glob("iv-*/*.json")} == set(documents)


def test_an_edited_case_of_the_other_project_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make_verification, "VECTORS", tmp_path)
    monkeypatch.setattr("sys.argv", ["make_verification"])
    assert make_verification.main() == 0
    edited = tmp_path / "iv-types" / "variant.json"
    edited.write_text(edited.read_text().replace('"variant(x)"', '"variant(y)"'))
    monkeypatch.setattr("sys.argv", ["make_verification", "--check"])
    assert make_verification.main() == 1
    assert "variant.json" in capsys.readouterr().err
