"""The real engines: each is started, runs the spec's published examples, and is compared with its known deviations."""

from __future__ import annotations

from typing import Any

import pytest
from engine_processes import Running

from conformance.engine_setup import EngineStatus, list_engines
from conformance.operations.protocol import Ok, Refused, StartAnswer
from conformance.runner.adapter_interface import Request
from conformance.runner.process import Process

pytestmark = pytest.mark.engine


ENGINES = [status for status in list_engines() if status.installed or not status.by_name]
"""All but those that are built when they are named, unless they are there."""

ONLY_BUCKET = ("trino",)
"""Engines that have a function for one transform, whose vectors ask for it."""


@pytest.fixture(scope="module", params=ENGINES, ids=lambda status: status.label)
def engine(request: pytest.FixtureRequest, running: Running) -> tuple[EngineStatus, Process, StartAnswer]:
    status: EngineStatus = request.param
    return status, *running(status.label)


def ask(process: Process, op: str, *args: dict[str, Any]) -> list[Any]:
    return list(process.ask([Request(op, given) for given in args]))


def test_the_adapter_reports_the_version_that_is_pinned(engine: tuple[EngineStatus, Process, StartAnswer]) -> None:
    status, _, started = engine
    assert (started.implementation, started.version) == (status.name, status.version)


def test_the_engine_buckets_and_truncates_as_the_examples_of_the_spec(
    engine: tuple[EngineStatus, Process, StartAnswer],
) -> None:
    _, process, started = engine
    if "transform" not in started.operations or started.implementation in ONLY_BUCKET:
        assert "table.read" in started.operations
        return
    bucket = {"transform": "bucket[2147483647]", "type": "string", "value": "iceberg"}
    truncate = {"transform": "truncate[10]", "type": "int", "value": -1}
    null = {"transform": "bucket[16]", "type": "long", "value": None}
    assert ask(process, "transform", bucket, truncate, null) == [Ok(1210000089), Ok(-10), Ok(None)]


def test_the_engine_refuses_a_transform_of_a_type_that_has_none(
    engine: tuple[EngineStatus, Process, StartAnswer],
) -> None:
    _, process, started = engine
    if "transform" not in started.operations or started.implementation in ONLY_BUCKET:
        assert "table.read" in started.operations
        return
    (answer,) = ask(process, "transform", {"transform": "year", "type": "string", "value": "iceberg"})
    assert isinstance(answer, Refused)
    assert answer.kind == "invalid", started
