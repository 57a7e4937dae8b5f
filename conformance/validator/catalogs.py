"""Tables by the catalogs that PyIceberg is configured for: ``catalog:NAME.TABLE``.

PyIceberg is asked in its own environment, with the configuration and the variables of the caller; all that comes back
is where the current metadata is, which is then read as of any other table.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from conformance.core.failures import UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.validator.root import Unreadable

with lazy_imports():
    from conformance import engine_setup


PREFIX = "catalog:"
SECONDS = 120

_PROGRAM = """
import json, sys
from pyiceberg.catalog import load_catalog
name, identifier = sys.argv[1:]
stage = "catalog"
try:
    catalog = load_catalog(name)
    stage = "table"
    print(json.dumps({"location": catalog.load_table(identifier).metadata_location}))
except Exception as error:
    print(json.dumps({"error": f"{type(error).__name__}: {error}", "stage": stage}))
"""

_FILE = ".pyiceberg.yaml"
_HOME = "PYICEBERG_HOME"
_UNREACHABLE = (
    "ConnectionError",
    "ConnectTimeout",
    "OperationalError",
    "TTransportException",
    "EndpointConnectionError",
    "NoCredentialsError",
    "NoRegionError",
    "URLError",
    "Timeout",
)
"""What the clients of PyIceberg's catalogs raise where nobody answers."""


def configuration_places(name: str) -> str:
    """Where PyIceberg looks for the configuration of a catalog, and what is there; no values are given.

    Args:
        name: the catalog's name.
    """
    directories = dict.fromkeys(filter(None, (os.environ.get(_HOME), str(Path.home()), str(Path.cwd()))))
    files = [Path(directory, _FILE) for directory in directories]
    told = [f"{path} ({'is there' if path.is_file() else 'is not there'})" for path in files]
    prefix = f"PYICEBERG_CATALOG__{name.upper()}__"
    found = sorted(key for key in os.environ if key.upper().startswith(prefix))
    told.append(f"the environment variables {prefix}* ({', '.join(found) if found else 'none is set'})")
    return ", ".join(told)


def explained(name: str, error: str) -> str:
    """An error of a catalog, with the catalog's name and where its configuration was looked for.

    Args:
        name: the catalog's name.
        error: what PyIceberg raised: the name of the class, and the message.
    """
    unreachable = "the catalog cannot be reached: " if error.startswith(_UNREACHABLE) else ""
    return f"catalog {name}: {unreachable}{error}; its configuration was looked for in {configuration_places(name)}"


def from_catalog(location: str) -> str:
    """The metadata file of a table in a catalog; another location as it is.

    Raises:
        UsageError: the location names no catalog or no table.
        Unreadable: PyIceberg is not installed, or the catalog does not give the table.
    """
    if not location.startswith(PREFIX):
        return location
    name, dot, identifier = location.removeprefix(PREFIX).partition(".")
    if not (name and dot and identifier):
        raise UsageError(f"{location}: a table of a catalog is named catalog:NAME.NAMESPACE.TABLE")
    try:
        launched = engine_setup.launch("pyiceberg")
    except engine_setup.EngineError as error:
        raise Unreadable(f"{location}: catalogs are asked through PyIceberg: {error}") from None
    command = [launched.command[0], "-c", _PROGRAM, name, identifier]
    try:
        done = subprocess.run(command, env=launched.env, capture_output=True, text=True, timeout=SECONDS, check=False)
        answer = json.loads(done.stdout.strip().rpartition("\n")[2] or "null")
    except (subprocess.TimeoutExpired, ValueError) as error:
        raise Unreadable(f"{location}: PyIceberg did not answer: {error}") from None
    if not isinstance(answer, dict) or "location" not in answer:
        told = (
            " ".join(answer["error"].split()) if isinstance(answer, dict) else done.stderr.strip().rpartition("\n")[2]
        )
        if not isinstance(answer, dict) or answer["stage"] == "catalog" or told.startswith(_UNREACHABLE):
            told = explained(name, told)
        raise Unreadable(f"{location}: {told}")
    found: str = answer["location"]
    return found
