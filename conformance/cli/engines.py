"""``iceberg-conformance engines``."""

from __future__ import annotations

import json
import sys
from typing import Literal

from conformance.cli import command_group
from conformance.core.failures import ExitStatus, UsageError, suggest_names
from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    from conformance import engine_setup
    from conformance.cli import listing
    from conformance.engine_setup import catalog as engine_catalog
    from conformance.engine_setup import pruning
    from conformance.table_io.catalogs import servers as catalog_servers


app = command_group("engines")


@app.command(name="list")
def list_(*, format: Literal["text", "json"] = "text") -> int:
    """List the engines, and whether each is ready.

    Args:
        format: Text for people, or JSON.
    """
    return listing.show_engines(format)


@app.command(name="install")
def install_(*names: str, all: bool = False, large: bool = False, format: Literal["text", "json"] = "text") -> int:
    """Install engines, and catalog servers for race stress, each in a separate environment.

    Exit status: 3 if one cannot be installed.

    Args:
        names: The engines, as list shows them, or servers, as race servers shows them.
        all: Install every engine but the large ones, which take much time and disk; those are installed by name, as
            servers are, or with --large.
        large: Install every engine that takes much time and disk.
        format: Text for people, or JSON.
    """
    known = engine_setup.list_engines()
    servers = [server.name for server in engine_catalog.catalog().servers]
    labels = [*(engine.label for engine in known), *servers]
    for name in names:
        if name not in labels:
            hint = suggest_names(name, labels) or "."
            raise UsageError(f"unknown engine {name!r}{hint} The engines and servers are {', '.join(labels)}")
    if not names and not all and not large:
        raise UsageError("name an engine, or give --all or --large")
    status = ExitStatus.CONFORMANT
    rows = []
    takes = {engine.label: engine.large for engine in known if engine.large and not engine.installed}
    chosen = [engine.label for engine in known if (large if engine.by_name else all)]
    for label in dict.fromkeys([*chosen, *names]):
        if label in takes:
            print(f"{label}: installing it takes {takes[label]}", file=sys.stderr, flush=True)
        try:
            done = (
                catalog_servers.install_server(label, _print_status)
                if label in servers
                else engine_setup.install(label, _print_status)
            )
        except engine_setup.EngineError as error:
            print(f"iceberg-conformance: {error}", file=sys.stderr)
            status = ExitStatus.NOT_EXAMINED
            rows.append({"label": label, "installed": False, "reason": error.reason})
        else:
            rows.append({"label": label, "installed": True, "path": str(done.path)})
            if format == "text":
                print(f"{label}: ready, in {done.path}", flush=True)
    if format == "json":
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
    return status


@app.command(name="prune")
def prune_(*, dry_run: bool = False, format: Literal["text", "json"] = "text") -> int:
    """Remove environments of engines that this version of the tool no longer uses: those of older lock files.

    Other versions of the tool share the same folder, and would install what they need again.

    Args:
        dry_run: Print what would be removed, and remove nothing.
        format: Text for people, or JSON.
    """
    gone = pruning.prune(dry_run=dry_run)
    if format == "json":
        rows = [{"path": str(one.path), "bytes": one.size, "removed": not dry_run} for one in gone]
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return ExitStatus.CONFORMANT
    verb = "would remove" if dry_run else "removed"
    for one in gone:
        print(f"{verb} {one.path}, {one.size / 2**20:,.0f} MiB")
    if not gone:
        print("nothing to remove")
    return ExitStatus.CONFORMANT


def _print_status(text: str) -> None:
    if sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)
