"""The adapter's side of the protocol in Python: standard output is for answers, and every exception has an answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.adapter_sdk.serve import Invalid, Unsupported, describe, perform

ADAPTER = """
import os, sys
from conformance.adapter_sdk.serve import Invalid, Unsupported, serve

def operation(args):
    match args["do"]:
        case "print":
            print("noise"); os.system("echo noise from below"); os.write(1, b"raw noise\\n")
        case "invalid": raise Invalid("é" * 5000)
        case "unsupported": raise Unsupported("no")
        case "bug": return {}["missing"]
        case "deep":
            return operation(args)
        case "object": return object()
        case "nan": return float("nan")
        case "engine-refusal": raise LookupError("not mine")
    return args["do"]

serve({"implementation": "tiny", "version": "1"}, {"do": operation}, (IndexError,))
"""


def converse(*requests: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    text = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run([sys.executable, "-c", ADAPTER], input=text, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def ask(seq: int, do: str) -> dict[str, Any]:
    return {"seq": seq, "op": "do", "args": {"do": do}}


def test_what_an_engine_prints_goes_to_standard_error() -> None:
    answers, stderr = converse(ask(1, "print"), {"seq": 2, "op": "stop"})
    assert answers == [{"seq": 1, "ok": "print"}]
    assert {"noise", "noise from below", "raw noise"} <= set(stderr.splitlines())


def test_start_reports_who_answers_and_what_can_be_asked() -> None:
    (answer,), _ = converse({"seq": 0, "op": "start", "args": {"protocol": 1}})
    assert answer == {
        "seq": 0,
        "ok": {"language": "python", "implementation": "tiny", "version": "1", "protocol": 1, "operations": ["do"]},
    }


@pytest.mark.parametrize(
    ("do", "kind"),
    [
        ("invalid", "invalid"),
        ("bug", "internal"),
        ("deep", "internal"),
        ("object", "internal"),
        ("nan", "internal"),
        ("engine-refusal", "internal"),
    ],
)
def test_every_exception_is_an_answer_and_the_next_request_is_answered_too(do: str, kind: str) -> None:
    answers, _ = converse(ask(1, do), ask(2, "x"))
    assert answers[0]["error"]["kind"] == kind
    assert len(answers[0]["error"]["message"]) <= 2000
    assert answers[1] == {"seq": 2, "ok": "x"}


def test_what_is_not_there_is_unsupported() -> None:
    answers, _ = converse(ask(1, "unsupported"), {"seq": 2, "op": "other", "args": {}})
    assert answers == [{"seq": 1, "unsupported": "no"}, {"seq": 2, "unsupported": "the operation other"}]


def test_an_engines_own_refusals_can_be_named() -> None:
    def refuse(_: dict[str, Any]) -> object:
        raise LookupError("x")

    assert perform({"do": refuse}, "do", {}, (LookupError,))["error"]["kind"] == "invalid"
    assert perform({"do": refuse}, "do", {})["error"]["kind"] == "internal"
    assert issubclass(Invalid, Exception)
    assert issubclass(Unsupported, Exception)
    assert describe({"language": "java"}, {})["language"] == "java"


def test_only_the_standard_library_is_loaded() -> None:
    code = (
        "import sys; import conformance.adapter_sdk.serve; "
        "print(sorted({'attrs', 'attr', 'jiter', 'jsonschema_rs', 'spec_ref'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout == "[]\n"


def test_it_serves_under_an_interpreter_that_has_nothing_installed() -> None:
    root = Path(__file__).parents[2]
    code = f"import sys; sys.path.insert(0, {str(root)!r}); import conformance.adapter_sdk.serve"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
