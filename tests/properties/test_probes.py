"""What a writer does not support is found out before scripts are drawn for it."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.adapters import reference
from conformance.adapters.asking import InProcess
from conformance.adapters.serve import Unsupported
from conformance.properties.errors import NotSupported
from conformance.properties.probes import find_supported, probes
from conformance.properties.scenario_files import check_script
from conformance.properties.scripts import AVOIDABLE


@pytest.fixture(autouse=True)
def _without_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)


def _writer(*lacks: str) -> InProcess:
    operations: dict[str, Any] = reference.operations()
    right = operations["table.write"]

    def write(args: dict[str, Any]) -> Any:
        for one in args["script"]["operations"]:
            words = (one["op"], one.get("mode"), one.get("properties", {}).get("write.format.default"))
            found = sorted(set(lacks) & {word for word in words if word is not None})
            if found:
                raise Unsupported(f"no {found[0]}")
        return right(args)

    return InProcess("shy", reference.implementation(), {**operations, "table.write": write}, reference.REFUSALS)


def test_probes_are_scripts_that_make_sense() -> None:
    words = [word for word, _ in probes(2)]
    assert set(words) <= AVOIDABLE | {"long"}
    assert len(set(words)) == len(words)
    for _, operations in probes(2):
        check_script({"operations": operations})


def test_what_a_writer_lacks_is_left_out() -> None:
    found = find_supported(_writer("merge", "orc", "merge-on-read"), frozenset({"v1"}))
    assert found.reasons == {"merge": "no merge", "orc": "no orc", "merge-on-read": "no merge-on-read"}
    assert found.avoid == {"v1", *found.reasons}


def test_a_writer_of_nothing_is_refused() -> None:
    with pytest.raises(NotSupported, match=r"version 2: .*no create"):
        find_supported(_writer("create"))
