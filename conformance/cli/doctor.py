"""``iceberg-conformance doctor``."""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from attrs import frozen

from conformance.cli import make_app
from conformance.core.failures import ExitStatus, ToolError
from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    from conformance import engine_setup, vectors
    from conformance.adapter_sdk import serve
    from conformance.cli import configuration
    from conformance.engine_setup import built
    from conformance.engine_setup import java as java_runtimes
    from conformance.engines.reference import adapter as reference


LIBRARIES = (
    "attrs",
    "cattrs",
    "cramjam",
    "cyclopts",
    "fastavro",
    "immutabledict",
    "jinja2",
    "jiter",
    "jsonschema-rs",
    "lz4",
    "mmh3",
    "numpy",
    "pyarrow",
    "pyroaring",
    "rtoml",
    "sqlglot",
)


@frozen
class InstallationCheck:
    """The result of one check of the installation."""

    subject: str
    is_ok: bool
    found: str
    advice: str = ""
    """How to fix the problem, if there is one."""

    is_required: bool = True
    """Whether the tool needs the checked part; engines are optional."""


def doctor(*, format: Literal["text", "json"] = "text") -> int:
    """Diagnose this installation: versions, vectors, Java and engines, with advice for each problem.

    Exit status: 3 if something that the tool needs is broken; engines that are not installed are only listed.

    Args:
        format: Text for people, or JSON.
    """
    findings = [_python(), *map(_library, LIBRARIES), _vectors(), _reference(), _configuration(), *_engines()]
    if format == "json":
        sys.stdout.write(json.dumps([_json(finding) for finding in findings], indent=2) + "\n")
    else:
        width = max(len(finding.subject) for finding in findings)
        for finding in findings:
            mark = "ok  " if finding.is_ok else "FAIL" if finding.is_required else "-   "
            advice = f"; {finding.advice}" if finding.advice else ""
            print(f"{mark}  {finding.subject.ljust(width)}  {finding.found}{advice}")
    broken = any(finding.is_required and not finding.is_ok for finding in findings)
    return ExitStatus.NOT_EXAMINED if broken else ExitStatus.CONFORMANT


def _json(finding: InstallationCheck) -> dict[str, Any]:
    return {
        "what": finding.subject,
        "fine": finding.is_ok,
        "needed": finding.is_required,
        "found": finding.found,
        **({"do": finding.advice} if finding.advice else {}),
    }


def _python() -> InstallationCheck:
    fine = sys.version_info >= (3, 11)
    return InstallationCheck("python", fine, f"{platform.python_version()} on {platform.system()} {platform.machine()}")


def _configuration() -> InstallationCheck:
    """Return the configuration file that applies here, and the options in it."""
    try:
        found = configuration.find()
        if found is not None:
            configuration.check(*found, make_app())
    except ToolError as error:
        advice = "options by their long names, in a table of their command"
        return InstallationCheck("configuration", is_ok=False, found=str(error), advice=advice)
    if found is None:
        return InstallationCheck("configuration", is_ok=True, found="no file")
    path, tables = found
    options = ", ".join(f"{command}.{option}" for command, table in tables.items() for option in table)
    return InstallationCheck("configuration", is_ok=True, found=f"{path}: {options or 'no options'}")


def _library(name: str) -> InstallationCheck:
    try:
        return InstallationCheck(name, is_ok=True, found=version(name))
    except PackageNotFoundError:
        return InstallationCheck(name, is_ok=False, found="missing", advice="install iceberg-conformance again")


def _vectors() -> InstallationCheck:
    folder = vectors.shipped()
    try:
        return InstallationCheck("vectors", is_ok=True, found=f"{len(vectors.load(folder))} in {folder}")
    except ToolError as error:
        return InstallationCheck("vectors", is_ok=False, found=str(error), advice="install iceberg-conformance again")


def _reference() -> InstallationCheck:
    answer = serve.perform(reference.operations(), "hash", {"type": "int", "value": 34})
    fine = answer == {"ok": 2017239379}  # the first example of Appendix B
    return InstallationCheck(
        "reference", is_ok=fine, found="hashes 34 as the spec does" if fine else f"returns {answer}"
    )


def _engines() -> list[InstallationCheck]:
    java = java_runtimes.system_java() or java_runtimes.packaged_java()
    found = [
        InstallationCheck(
            "java runtime",
            java is not None,
            str(java)
            if java
            else f"no runtime that the engines support (JAVA_HOME is {os.environ.get('JAVA_HOME')!r})",
            "" if java else "installing an engine that needs one installs it too",
            is_required=False,
        )
    ]
    for toolchain in built.TOOLCHAINS.values():
        lack = built.missing_tools(toolchain)
        found.append(
            InstallationCheck(
                toolchain.program,
                lack is None,
                lack or "found, for engines that are built from source",
                is_required=False,
            )
        )
    for engine in engine_setup.list_engines():
        fine = engine.installed
        text = f"{engine.version} in {engine.path}" if fine else str(engine.reason)
        found.append(InstallationCheck(engine.label, fine, text, is_required=False))
    return found
