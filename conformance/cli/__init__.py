"""The command line: ``iceberg-conformance``, or ``python -m conformance``.

Each command is a plain function in a separate module, imported when it is called. It returns its exit status
(`conformance.core.failures.ExitStatus`) or raises a `ToolError`, which is printed as one line.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Collection, Sequence
from typing import Any, get_args

import cyclopts
from cyclopts import App, CycloptsError, Parameter, Token

from conformance.cli import deprecations
from conformance.cli.help_text import WrappedHelp
from conformance.core.failures import ExitStatus, ToolError, UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.core.terminal_sanitizer import SanitizedStream

with lazy_imports():
    import tempfile
    import traceback

    from conformance import version
    from conformance.cli import configuration


COMMANDS = {
    "run": ("run:run", "Run vectors against implementations."),
    "validate": ("validate:validate", "Check tables that any engine wrote, at four levels, locally or on Spark."),
    "filter-pushdown": ("filter_pushdown:filter_pushdown", "Check that filtered reads equal filtering a full read."),
    "scenarios": ("scenarios:scenarios", "Run random scripts, and compare the table with a model after every step."),
    "metamorphic": ("metamorphic:metamorphic", "Compare tables of related scripts; for example, appends must commute."),
    "matrix": ("matrix:matrix", "Check that every reader reads what every writer wrote."),
    "relay": ("relay:relay", "Let several engines change one table in turn, and check the table after each step."),
    "replay": ("replay:replay", "Run one vector again and show all evidence."),
    "report": ("report:report", "Render results files for people or for other tools."),
    "explain": ("explain:explain", "Explain a requirement, a check, a vector or an open point."),
    "list": ("listing:app", "List vectors, suites, operations, adapters, engines, requirements or checks."),
    "vectors": ("vectors_command:app", "Extract, import and export vectors."),
    "race": ("race:app", "Test concurrent commits, in every order of their steps or on a real catalog."),
    "check": ("check:app", "Lint vector files."),
    "new-adapter": ("new_adapter:new_adapter", "Create the files of a new adapter that runs."),
    "engines": ("engines:app", "List, install and prune the engines that come with an adapter."),
    "doctor": ("doctor:doctor", "Diagnose this installation."),
    "completion": ("completion:completion", "Print the completion script for a shell."),
}
"""The commands: the module and the function of each, and its line of help, which is shown without importing them."""

EXAMPLES = {
    "run": ("run --adapter pyiceberg --suite transforms", 'run --adapter "./my-adapter" --expect known.toml'),
    "validate": (
        "validate /warehouse/db/events --level rows",
        "validate s3://lake/db/events --engine spark --format json",
    ),
    "filter-pushdown": (
        "filter-pushdown --adapter pyiceberg --seed 7",
        "filter-pushdown --adapter duckdb --exclude null",
    ),
    "scenarios": (
        "scenarios --adapter pyiceberg --examples 50 --seed 7",
        "scenarios --adapter reference --replay scenario.json",
    ),
    "metamorphic": ("metamorphic --adapter reference --examples 5", "metamorphic --adapter pyiceberg --seed 7"),
    "matrix": ("matrix --producer iceberg-java --consumer duckdb", "matrix --report html:matrix.html"),
    "relay": (
        "relay -a iceberg-java -a pyiceberg --examples 20",
        "relay -a reference -a pyiceberg --seed 7",
    ),
    "replay": ("replay hash-int-34", "replay hash-uuid-high-bit --adapter pyiceberg"),
    "report": ("report run.jsonl --format html", "report --diff before.jsonl after.jsonl"),
    "explain": ("explain HSH007", "explain manifest-file-manifest-length-mismatch"),
    "list": ("list requirements --section Snapshots", "list checks --format json"),
    "new-adapter": ("new-adapter my-adapter", "new-adapter my-adapter --language go --name my-engine"),
    "engines": ("engines list", "engines install pyiceberg"),
    "doctor": ("doctor", "doctor --format json"),
    "completion": ("completion bash", "completion zsh"),
    "race": ("race explore --faults 1", "race stress --server sqlite --seconds 30"),
    "check": ("check vectors", "check vectors --format json"),
    "vectors": ("vectors extract my-vectors", "vectors export cases"),
}
"""Two examples of each command, as its help shows them."""

EXIT_STATUSES = (
    "Exit status: 0 no failure, 1 at least one failure, 2 wrong usage or configuration, 3 an implementation or a table "
    "could not be examined, 4 a bug in this tool, 5 nothing selected, 130 interrupted."
)


def _version() -> str:
    return version.tool_version()


def _worth_showing(default: object) -> str | None:
    """Return a default as the help shows it; None for an empty tuple, False, an empty string and None."""
    return None if default in ((), "", False, None) else f"{default:g}" if isinstance(default, float) else str(default)


def _convert(type_: Any, tokens: Sequence[Token]) -> Any:
    """Convert a value as Cyclopts does, but refuse fractions for whole numbers, which Cyclopts rounds."""
    if int in (type_, *get_args(type_)):
        for token in tokens:
            if "." in token.value:
                file = "" if token.source == "cli" else f"{token.source}: "
                raise UsageError(f"{file}{token.keyword}: expected a whole number; found {token.value}")
    return cyclopts.convert(type_, tokens)


def make_app(full_help: Collection[str] = ()) -> App:
    """Make the command line with all its commands.

    Args:
        full_help: the commands whose help is their whole docstring; the help of the others is one line.
    """
    app = App(
        name="iceberg-conformance",
        help="Check implementations of the Apache Iceberg table spec against golden vectors.",
        help_epilogue=EXIT_STATUSES,
        help_format="plaintext",
        help_formatter=WrappedHelp(),
        version=_version,
        suppress_keyboard_interrupt=False,
        default_parameter=Parameter(negative=(), show_default=_worth_showing, converter=_convert),
    )
    for name, (place, help_) in COMMANDS.items():
        epilogue = {} if place.endswith(":app") else {"help_epilogue": _examples(name)}
        about = None if name in full_help and epilogue else help_
        app.command(f"conformance.cli.{place}", name=name, help=about, **epilogue)
    return app


def command_group(name: str) -> App:
    """Make a command that has subcommands, without the subcommands.

    Args:
        name: its name, as in `COMMANDS`.
    """
    return App(name=name, help=COMMANDS[name][1], help_epilogue=_examples(name), help_format="plaintext")


def _examples(name: str) -> str:
    return "\n".join(["Examples:", *(f"  iceberg-conformance {example}" for example in EXAMPLES[name])])


def _make_configured_app(arguments: Sequence[str]) -> App:
    """Make the command line with the defaults of the configuration, which `doctor` and help do not need."""
    app = make_app(arguments[:1])
    if arguments and arguments[0] in COMMANDS and arguments[0] not in configuration.UNCONFIGURED:
        configuration.apply(app, arguments[0])
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit status."""
    streams: tuple[Any, Any] = SanitizedStream(sys.stdout), SanitizedStream(sys.stderr)
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        return _main(arguments)


def _main(arguments: Sequence[str] | None) -> int:
    given = deprecations.replace_old_arguments(sys.argv[1:] if arguments is None else arguments)
    try:
        status = _make_configured_app(given)(
            given,
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
        sys.stdout.flush()
    except CycloptsError as error:
        return _complain(str(error), ExitStatus.USAGE)
    except ToolError as error:
        return _complain(str(error), error.status)
    except KeyboardInterrupt:
        return _complain("interrupted", ExitStatus.INTERRUPTED)
    except BrokenPipeError:
        # The reader of the output closed it; the interpreter must not fail again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitStatus.CONFORMANT
    except Exception as error:
        return _complain(f"a bug in this tool: {_write_traceback(error)}", ExitStatus.OUR_BUG)
    return status if isinstance(status, int) else ExitStatus.CONFORMANT


def _complain(message: str, status: ExitStatus) -> int:
    print(f"iceberg-conformance: {' '.join(message.split())}", file=sys.stderr)
    return status


def _write_traceback(error: Exception) -> str:
    """Write a traceback to a file; return the error and the name of the file."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="iceberg-conformance-", suffix=".trace", delete=False, encoding="utf-8", errors="replace"
    ) as file:
        traceback.print_exception(error, file=file)
    return f"{type(error).__name__}: {error}; the traceback is in {file.name}"
