"""Moto's mock of AWS Glue and S3 on the loopback interface, optionally with Glue's check of versions.

Arguments: the port, and ``checked`` or ``as-it-is``. Runs in moto's environment.

AWS Glue refuses ``UpdateTable`` if ``VersionId`` is not the current version of the table. Commits to Iceberg tables
rely on this. Moto 5.2.5 ignores ``VersionId``, so that two concurrent commits both succeed.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.glue.responses import GlueResponse
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple

_LOCK = threading.Lock()
_update = GlueResponse.update_table


def _checked(self: Any) -> Any:
    given = self.parameters
    with _LOCK:
        asked = given.get("VersionId")
        table = self.glue_backend.get_table(given["DatabaseName"], given["TableInput"]["Name"])
        if asked is not None and str(asked) != str(table.as_dict()["VersionId"]):
            raise JsonRESTError("ConcurrentModificationException", f"the table is not at version {asked}")
        return _update(self)


def main() -> None:
    """Serve until killed."""
    port, how = sys.argv[1:]
    if how == "checked":
        GlueResponse.update_table = _checked  # type: ignore[method-assign]
    run_simple("127.0.0.1", int(port), DomainDispatcherApplication(create_backend_app), threaded=True)


if __name__ == "__main__":
    main()
