"""Files of scripts for which a property does not hold, to be tried again."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from conformance.failures import UsageError
from conformance.properties.searching import Failure
from conformance.protocol import parse_json
from conformance.scripts import ScriptError, parse_script
from conformance.scripts.model import check_script

Json = Any


def write_scenario(failure: Failure, keep: Path | None) -> Path:
    """Write the script of a failure to a file.

    Args:
        failure: what was found.
        keep: the folder; a new temporary one where None.

    Returns:
        The file.
    """
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="iceberg-scenario-", dir=keep))
    content = {"kind": failure.kind, "reason": failure.reason, "script": failure.example}
    (folder / "scenario.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return folder / "scenario.json"


def read_scenario(file: Path) -> Json:
    """The script of a file: what `write_scenario` wrote, or a script alone.

    Raises:
        UsageError: the file cannot be read, or has no script that makes sense.
    """
    try:
        content = parse_json(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{file}: not a script: {error}") from None
    script = content["script"] if isinstance(content, dict) and "script" in content else content
    try:
        parse_script(script)
        check_script(script)
    except ScriptError as error:
        raise UsageError(f"{file}: not a script: {error}") from None
    return script
