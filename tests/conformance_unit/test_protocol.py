"""The protocol: messages conform to the published schema, and invalid ones are attributed to their sender."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.core.failures import HarnessFault
from conformance.core.json_text import parse_json
from conformance.operations.protocol import (
    MAX_LINE,
    Breach,
    Ok,
    Refused,
    Unsupported,
    message_violation,
    protocol_schema,
    read_answer,
    read_started,
    request_line,
    start_line,
    stop_line,
)
from conformance.operations.registry import OPERATIONS

SCHEMAS = sorted(path.name for path in (files("conformance") / "schemas").iterdir())
STARTED = {"implementation": "x", "version": "1", "protocol": 1, "operations": ["hash"]}


@pytest.mark.parametrize("name", SCHEMAS)
def test_published_schemas_are_schemas_and_independent_validators_agree(name: str) -> None:
    schema = json.loads((files("conformance") / "schemas" / name).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)


def test_every_operation_has_a_form_of_arguments_and_of_answers_and_no_form_is_left_over() -> None:
    defined = {name.rpartition(".")[0] for name in protocol_schema()["$defs"] if name.endswith(".args")}
    assert defined == set(OPERATIONS)
    asked = {choice["$ref"].removeprefix("#/$defs/") for choice in protocol_schema()["$defs"]["ask"]["oneOf"]}
    assert asked == {f"{name}.request" for name in OPERATIONS}
    for name, operation in OPERATIONS.items():
        assert protocol_schema()["$defs"][f"{name}.args"]["required"]
        assert message_violation(f"{operation.name}.args", {}) is not None


@pytest.mark.parametrize("line", [start_line(), request_line(3, "hash", {"type": "int", "value": 34}), stop_line(9)])
def test_requests_are_of_the_published_schema(line: bytes) -> None:
    jsonschema.validate(json.loads(line), protocol_schema())
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1


def test_a_request_that_is_not_of_the_schema_is_our_fault() -> None:
    with pytest.raises(HarnessFault, match="this tool made an invalid request"):
        request_line(1, "hash", {"type": "int"})


def test_a_request_beyond_the_line_limit_is_our_fault() -> None:
    with pytest.raises(HarnessFault, match=str(MAX_LINE)):
        request_line(1, "hash", {"type": "string", "value": "x" * MAX_LINE})


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (b'{"seq": 1, "ok": 2017239379}', Ok(2017239379)),
        (b'{"seq": 1, "ok": null}', Ok(None)),
        (b'{"ok": [1.0], "seq": 1}\r', Ok([1.0])),
        (b'{"seq": 1, "ok": "-0, \\"-0"}', Ok('-0, "-0')),
        (b'{"seq": 1, "ok": [-0, 0, 1e-0, -0e0, "2017-01-01", "-0"]}', Ok([-0.0, 0, 1.0, -0.0, "2017-01-01", "-0"])),
        (b'{"seq": 1, "error": {"kind": "invalid", "message": "no"}}', Refused("invalid", "no")),
        (b'{"seq": 1, "error": {"kind": "conflict"}}', Refused("conflict")),
        (b'{"seq": 1, "ok": [1e308, 1E99, "1e400"]}', Ok([1e308, 1e99, "1e400"])),
        (b'{"seq": 1, "unsupported": "geometry"}', Unsupported("geometry")),
    ],
)
def test_answers_are_read(line: bytes, answer: object) -> None:
    assert read_answer(line) == (1, answer)


def test_minus_0_keeps_its_sign() -> None:
    _, answer = read_answer(b'{"seq": 1, "ok": {"-0": -0}}')
    assert repr(answer) == repr(Ok({"-0": -0.0}))


MINUS_0_TEXTS = st.text(st.sampled_from('-0,: []{}"\\\n1'), max_size=12)
DOCUMENTS = st.recursive(
    st.sampled_from([-0.0, 0, -1, 1]) | MINUS_0_TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(MINUS_0_TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(document=DOCUMENTS, layout=st.sampled_from([{"indent": 1}, {"separators": (",", ":")}, {}]))
def test_only_numbers_are_read_as_minus_0(document: Any, layout: dict[str, Any]) -> None:
    """``-0.0`` is written as ``-0`` wherever it is a number, and texts that look alike stay as they are."""
    text = json.dumps(marked(document), **layout).replace('"MINUS 0"', "-0")
    assert repr(parse_json(text.encode())) == repr(document)


def marked(document: Any) -> Any:
    """Put a text that is in no document in the place of -0.0."""
    match document:
        case float():
            return "MINUS 0"
        case list():
            return [marked(one) for one in document]
        case dict():
            return {name: marked(one) for name, one in document.items()}
        case _:
            return document


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "not JSON"),
        (b"INFO 12:00 started", "not JSON"),
        (b'{"seq": 1, "ok": 1} {"seq": 2, "ok": 1}', "not JSON"),
        (b'{"seq": 1, "ok": 1, "ok": 2}', "duplicate key"),
        (b'{"seq": 1, "ok": NaN}', "not JSON"),
        (b'{"seq": 1, "ok": "\\ud800"}', "not JSON"),
        (b'{"seq": 1, "ok": "\xff"}', "not JSON"),
        (b'{"seq": 1, "ok": ' + b"[" * 5000, "not JSON"),
        (b'{"seq": 1, "ok": [{"a": 1e400}]}', "a number beyond the range of doubles"),
        (b'{"seq": 1, "ok": -1E+309}', "a number beyond the range of doubles"),
        (b'{"seq": 1, "ok": 1' + b"0" * 309 + b".0}", "a number beyond the range of doubles"),
        (b'{"seq": 1, "ok": ' + b"9" * 5000 + b"}", "not JSON"),
        (b"[]", "an answer is a JSON object, not []"),
        (b'{"seq": 1}', "one of ok, error and unsupported"),
        (b'{"seq": 1, "ok": 1, "unsupported": "x"}', "one of ok, error and unsupported"),
        (b'{"ok": 1}', '"seq" is a required property'),
        (b'{"seq": -1, "ok": 1}', "/seq: -1 is less than the minimum of 0"),
        (b'{"seq": "1", "ok": 1}', '/seq: "1" is not of type "integer"'),
        (b'{"seq": 1, "error": {"kind": "wrong"}}', '/error/kind: "wrong" is not one of'),
        (b'{"seq": 1, "error": "invalid"}', '/error: "invalid" is not of type "object"'),
        (b'{"seq": 1, "ok": 1, "note": 1}', "Additional properties are not allowed"),
    ],
)
def test_what_is_no_answer_is_a_breach_that_says_why(line: bytes, reason: str) -> None:
    with pytest.raises(Breach) as caught:
        read_answer(line)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_the_answer_to_start_reports_who_answers() -> None:
    started = read_started(Ok({**STARTED, "format_versions": [1, 2], "language": "go", "homepage": "ignored"}))
    assert (started.implementation, started.version, started.language) == ("x", "1", "go")
    assert started.operations == {"hash"}
    assert started.format_versions == (1, 2)


@pytest.mark.parametrize("name", ["implementation", "version", "language"])
def test_a_long_name_in_the_answer_to_start_is_cut(name: str) -> None:
    started = read_started(Ok({**STARTED, name: "x" * 1_000_000}))
    assert getattr(started, name) == f"{'x' * 200}... (1000000 characters)"


@pytest.mark.parametrize("missing", sorted(STARTED))
def test_the_answer_to_start_has_to_be_complete(missing: str) -> None:
    with pytest.raises(Breach):
        read_started(Ok({key: value for key, value in STARTED.items() if key != missing}))


@pytest.mark.parametrize("wrong", [None, 7, [], {"protocol": True}])
def test_an_answer_to_start_of_another_form_is_a_breach(wrong: Any) -> None:
    with pytest.raises(Breach):
        read_started(Ok(wrong))


def test_a_complaint_reports_the_place_as_a_json_pointer() -> None:
    text = message_violation("bound.truncate.args", {"type": "string", "value": "a", "width": "3", "side": "lower"})
    assert text == '/width: "3" is not of type "integer"'
