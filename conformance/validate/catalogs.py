"""Tables by the catalogs that PyIceberg is configured for: ``catalog:NAME.TABLE``.

PyIceberg is asked in its own environment, with the configuration and the variables of the caller; all that comes back
is where the current metadata is, which is then read as of any other table.
"""

from __future__ import annotations

import json
import subprocess

from conformance.failures import UsageError
from conformance.validate.root import Unreadable

PREFIX = "catalog:"
SECONDS = 120

_PROGRAM = """
import json, sys
from pyiceberg.catalog import load_catalog
name, identifier = sys.argv[1:]
try:
    print(json.dumps({"location": load_catalog(name).load_table(identifier).metadata_location}))
except Exception as error:
    print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
"""


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
    from conformance.engines import EngineError, launch

    try:
        launched = launch("pyiceberg")
    except EngineError as error:
        raise Unreadable(f"{location}: catalogs are asked through PyIceberg: {error}") from None
    command = [launched.command[0], "-c", _PROGRAM, name, identifier]
    try:
        done = subprocess.run(command, env=launched.env, capture_output=True, text=True, timeout=SECONDS, check=False)
        answer = json.loads(done.stdout.strip().rpartition("\n")[2] or "null")
    except (subprocess.TimeoutExpired, ValueError) as error:
        raise Unreadable(f"{location}: PyIceberg did not answer: {error}") from None
    if not isinstance(answer, dict) or "location" not in answer:
        told = answer["error"] if isinstance(answer, dict) else done.stderr.strip().rpartition("\n")[2]
        raise Unreadable(f"{location}: {told}")
    found: str = answer["location"]
    return found
