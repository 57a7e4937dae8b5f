"""The engines' table metadata conforms to the JSON Schemas, and no check finds an error in it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from engine_processes import Running

from conformance.engine_setup import list_engines
from conformance.operations.protocol import Ok
from conformance.runner.adapter_interface import Request
from conformance.runner.process import Process
from spec_ref.checks.findings import Severity
from spec_ref.core.versions import FormatVersion
from spec_ref.table_metadata import check_metadata, read_metadata
from spec_ref.table_metadata.json_schemas import schema_text
from tools.derive.metadata_bases import BASES

pytestmark = pytest.mark.engine

ENGINES = [status for status in list_engines() if status.name in ("pyiceberg", "iceberg-java")]
SCHEMAS = {version: jsonschema_rs.validator_for(json.loads(schema_text(version))) for version in FormatVersion}

WRITTEN = {"pyiceberg": (1, 2), "iceberg-java": (1, 2, 3)}
"""The format versions that an engine writes."""

NOT_TAKEN: dict[str, set[str]] = {"pyiceberg": {"v1-snapshots", "v1-rich"}, "iceberg-java": {"v3-types", "v3-rich"}}
"""The documents that an engine does not read (``deviations.toml`` of each)."""


@pytest.fixture(scope="module", params=ENGINES, ids=lambda status: status.label)
def engine(request: pytest.FixtureRequest, running: Running) -> tuple[str, Process]:
    return request.param.name, running(request.param.label)[0]


def test_what_an_engine_writes_fits_the_json_schemas(engine: tuple[str, Process]) -> None:
    name, process = engine
    wanted = {base: document for base, document in BASES.items() if document["format-version"] in WRITTEN[name]}
    answers = process.ask(
        [
            Request("metadata.write", {"metadata": document, "format_version": document["format-version"]})
            for document in wanted.values()
        ]
    )
    written: dict[str, dict[str, Any]] = {
        base: answer.value for base, answer in zip(wanted, answers, strict=True) if isinstance(answer, Ok)
    }
    assert wanted.keys() - written.keys() == NOT_TAKEN[name]
    for base, document in written.items():
        schema = SCHEMAS[read_metadata(document).format_version]
        problems = [f"{base}: {error.message}" for error in schema.iter_errors(document)]
        problems += [f"{base}: {one}" for one in check_metadata(document) if one.severity is Severity.ERROR]
        assert problems == []
