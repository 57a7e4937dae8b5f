"""The results of the model, in the form for vectors (``table.write.expected`` of the protocol)."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from conformance.scripts.states import Rows, ScriptState
from spec_ref.core.json_types import Json


def expected_table(states: Sequence[ScriptState]) -> Json:
    """Return the expected table after a script, from its states."""
    last = states[-1]
    return {
        "format_version": last.format_version,
        "schema": {"type": "struct", "fields": copy.deepcopy(list(last.fields))},
        "partition": [dict(part) for part in last.spec],
        "sort": [dict(part) for part in last.sort],
        "refs": {name: reading_json(rows) for name, rows in last.refs.items()},
        "states": [
            {"after": index, "ref": state.ref, "changed": state.changed, **reading_json(state.refs[state.ref])}
            for index, state in enumerate(states)
            if state.ref is not None
        ],
    }


def reading_json(rows: Rows) -> Json:
    """Return the expected result of a reading."""
    return {
        "columns": {field["name"]: copy.deepcopy(field["type"]) for field in rows.fields},
        "rows": [row.values for row in rows.rows],
        "identity": [row.identity for row in rows.rows],
        "updated": [row.updated for row in rows.rows],
    }
