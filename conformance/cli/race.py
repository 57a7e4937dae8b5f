"""``iceberg-conformance race``."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from conformance.cli import command_group
from conformance.cli.progress import progress
from conformance.core.counts import plural
from conformance.core.failures import ExitStatus, UsageError
from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    import attrs

    from conformance.engine_setup import catalog as engine_catalog
    from conformance.races import suites as race_suites
    from conformance.races import table_fixtures
    from conformance.races.stress import judge
    from conformance.races.stress import known as known_problems
    from conformance.races.stress import run as stress_run
    from conformance.table_io.catalogs import servers as catalog_servers


app = command_group("race")

Format = Literal["text", "json"]


@app.command(name="list")
def list_changes(*, format: Format = "text") -> int:
    """List the changes that can race, by format version and fixture, and the faults that can happen to their steps.

    Args:
        format: Text for people, or JSON.
    """
    found = {
        "changes": {
            str(version): [*race_suites.change_names(version), race_suites.READ] for version in race_suites.VERSIONS
        },
        "faults": list(race_suites.ALL_FAULTS),
        "tables": list(race_suites.TABLES),
        "fixtures": {
            name: {
                "about": one.about,
                "changes": {
                    str(version): [*race_suites.change_names(version, name), race_suites.READ]
                    for version in one.versions
                },
            }
            for name, one in table_fixtures.FIXTURES.items()
        },
    }
    if format == "json":
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return ExitStatus.CONFORMANT
    for name, one in table_fixtures.FIXTURES.items():
        print(f"{name}: {one.about}" + (" (the default)" if name == race_suites.DEFAULT_FIXTURE else ""))
        for version in one.versions:
            print(f"  v{version}: {', '.join((*race_suites.change_names(version, name), race_suites.READ))}")
    print(f"faults: {', '.join(race_suites.ALL_FAULTS)}")
    print(f"tables: {', '.join(race_suites.TABLES)}")
    return ExitStatus.CONFORMANT


@app.command
def play(
    *changes: str,
    format_version: Annotated[int, Parameter(name="--format-version")] = 2,
    table: str = "metastore",
    fixture: str = "partitioned",
    faults: int = 0,
    kind: tuple[str, ...] = (),
    schedule: str | None = None,
    format: Format = "text",
) -> int:
    """Run a few changes concurrently, in every order of their steps or in one.

    Exit status: 1 if something is wrong; the report shows the schedule that led to it.

    Args:
        changes: The change of each writer, as race list names them; read for a reader.
        format_version: The format version of the table: 1, 2 or 3.
        table: The kind of table: metastore or file-system.
        fixture: The table to change, as named by race list.
        faults: The maximum number of faults in one schedule.
        kind: Only faults of this kind. May be repeated.
        schedule: Run only this schedule: writers by number, with the fault at the step, as in
            "0 1 1:crash".
        format: Text for people, or JSON.
    """
    if (
        format_version not in race_suites.VERSIONS
        or table not in race_suites.TABLES
        or set(kind) - set(race_suites.ALL_FAULTS)
        or not race_suites.change_names(format_version, fixture)
    ):
        raise UsageError("race play: unknown version, table, fixture or kind of fault; see race list")
    unknown = [
        name for name in changes if name not in (*race_suites.change_names(format_version, fixture), race_suites.READ)
    ]
    if unknown or not changes:
        raise UsageError(
            f"race play: unknown change {', '.join(unknown)}; see race list"
            if unknown
            else "race play: name a change; see race list"
        )
    chosen = kind or (race_suites.ALL_FAULTS if faults or schedule else ())
    race = race_suites.Race(format_version, table, changes, tuple(chosen), faults, fixture)
    if schedule is None:
        found = race_suites.explore_schedules(race)
        return _show([_row(found)], format)
    steps = _steps(schedule, len(changes))
    try:
        trace, outcome, problems = race_suites.replay_schedule(race, steps)
    except ValueError as error:
        raise UsageError(f"race play: {error}") from None
    if format == "json":
        content = {"trace": trace, "outcome": outcome, "problems": problems}
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
    else:
        for line in trace:
            print(line)
        print(f"the writers ended {', '.join(outcome)}")
        for problem in problems:
            print(f"wrong: {problem}")
    return ExitStatus.FAILURES if problems else ExitStatus.CONFORMANT


@app.command
def explore(
    *,
    format_version: Annotated[tuple[int, ...], Parameter(name="--format-version")] = (),
    table: tuple[str, ...] = (),
    suite: tuple[Literal["pairs", "triples", "readers"], ...] = (),
    fixture: tuple[str, ...] = (),
    faults: int = 0,
    thorough: bool = False,
    processes: int | None = None,
    format: Format = "text",
) -> int:
    """Run every pair of changes, triples of the core changes, and readers among writers, in every order of steps.

    Exit status: 1 if something is wrong; the report shows the schedules that led to it.

    Args:
        format_version: Only tables of this format version. May be repeated.
        table: Only this kind of table: metastore or file-system. May be repeated.
        suite: Only pairs, triples or readers. May be repeated.
        fixture: Only this table, as named by race list. May be repeated.
        faults: The maximum number of faults in one schedule of a pair.
        thorough: Run every suite on every fixture, with every kind of fault; let three writers crash and lose
            replies; and check the bytes of every file. By default only pairs run on all fixtures, and every kind of
            fault happens on the first fixture only; on the others, only crashes and lost replies happen.
        processes: How many races to explore at once; by default one for each processor.
        format: Text for people, or JSON.
    """
    versions, tables = format_version or race_suites.VERSIONS, table or tuple(race_suites.TABLES)
    if set(versions) - set(race_suites.VERSIONS) or set(tables) - set(race_suites.TABLES):
        raise UsageError("race explore: unknown version or table; see race list")
    if set(fixture) - set(table_fixtures.FIXTURES):
        raise UsageError("race explore: unknown fixture; see race list")
    chosen = suite or ("pairs", "triples", "readers")
    races = race_suites.races(
        chosen, versions, tables, fixture or tuple(table_fixtures.FIXTURES), faults, thorough=thorough
    )
    if not races:
        raise UsageError("race explore: none of the fixtures has that version; see race list")
    rows = []
    with progress() as report_progress:
        for number, found in enumerate(race_suites.play_all(races, processes, encoded=thorough), 1):
            rows.append(_row(found))
            report_progress("races", number, len(races))
    return _show(rows, format)


def _row(found: Any) -> dict[str, Any]:
    race, explored = found.race, found.explored
    command = ["iceberg-conformance", "race", "play", *race.changes, "--format-version", str(race.version)]
    command += ["--table", race.table, "--fixture", race.fixture]
    if race.max_faults:
        command += ["--faults", str(race.max_faults)]
    counts = {" | ".join(outcome): number for outcome, number in sorted(explored.outcomes.items())}
    return {
        "race": str(race),
        "schedules": explored.schedules,
        "states": explored.states,
        "seconds": round(found.seconds, 3),
        "outcome_counts": counts,
        "outcomes": counts,  # the former name, for one more release
        "found": [
            {
                "problem": one.problem,
                "trace": list(one.trace),
                "replay": " ".join(command) + f" --schedule '{_schedule(one.schedule)}'",
            }
            for one in explored.found
        ],
    }


def _schedule(steps: tuple[tuple[int, str], ...]) -> str:
    return " ".join(str(writer) if what == "step" else f"{writer}:{what}" for writer, what in steps)


def _steps(text: str, writers: int) -> tuple[tuple[int, str], ...]:
    steps = []
    for word in text.split():
        writer, _, what = word.partition(":")
        if (
            not writer.isdigit()
            or (what and what not in (*race_suites.ALL_FAULTS, "arrives"))
            or int(writer) >= writers
        ):
            raise UsageError(f"race play: {word} is not a step of a schedule")
        steps.append((int(writer), what or "step"))
    return tuple(steps)


def _show(rows: list[dict[str, Any]], format: Format) -> int:
    wrong = [row for row in rows if row["found"]]
    if format == "json":
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return ExitStatus.FAILURES if wrong else ExitStatus.CONFORMANT
    for row in wrong:
        print(f"{row['race']}")
        for found in row["found"]:
            print(f"  wrong: {found['problem']}")
            for line in found["trace"]:
                print(f"    {line}")
            print(f"  replay: {found['replay']}")
    if len(rows) == 1:
        for outcome, number in rows[0]["outcome_counts"].items():
            print(f"{number:>12,}  {outcome}")
    schedules, states = sum(row["schedules"] for row in rows), sum(row["states"] for row in rows)
    seconds = sum(row["seconds"] for row in rows)
    print(
        f"{plural(len(rows), 'race')}, {plural(schedules, 'schedule')}, {plural(states, 'state')}, "
        f"{seconds:.1f} s of work: {len(wrong)} failed"
    )
    return ExitStatus.FAILURES if wrong else ExitStatus.CONFORMANT


@app.command
def stress(
    *,
    catalog: str | None = None,
    server: str | None = None,
    client: Literal["reference", "pyiceberg"] = "reference",
    location: str | None = None,
    processes: int = 8,
    seconds: float = 30.0,
    kills: float | None = None,
    server_kills: int = 0,
    pauses: int = 0,
    pause: float = 5.0,
    commits: int = 1000,
    format_version: Annotated[int, Parameter(name="--format-version")] = 2,
    seed: int | None = None,
    allow_remote: bool = False,
    keep: Path | None = None,
    format: Format = "text",
) -> int:
    """Let many processes commit to a new table of a real catalog, kill some, and check the table.

    The check finds acknowledged commits that were lost, applied twice or reordered, other commits that were applied in
    part, and invalid tables. Exit status: 1 if something is wrong, 3 if the catalog cannot be reached or the server is
    not installed.

    Args:
        catalog: The URL of a store (file:, s3:, sqlite:, postgresql:, rest+http:), to which the reference commits, or
            catalog:NAME of PyIceberg's configuration, to which PyIceberg commits. Without this and --server, a new
            SQLite file.
        server: Start this server for the run, as race servers lists them.
        client: The client that commits to the server: the reference, or PyIceberg.
        location: The location of the table's files; by default a new temporary directory, or the location that the
            catalog assigns.
        processes: How many processes commit at once.
        seconds: How long the processes commit.
        kills: How many writers are killed per second, on average; 0 for none. By default 1, and 0.3 for PyIceberg.
        server_kills: How many times the server is killed and started again.
        pauses: How many times a writer is paused, as on a machine that does not respond for a while.
        pause: Seconds for which a writer is paused.
        commits: The maximum number of commits of each process.
        format_version: The format version of the table: 1, 2 or 3.
        seed: The seed of all random choices.
        allow_remote: Allow a catalog on another machine.
        keep: Keep the journals, the server's files and the table in this new folder.
        format: Text for people, or JSON.
    """
    if kills is None:
        kills = 1.0 if client == stress_run.REFERENCE and not (catalog or "").startswith("catalog:") else 0.3
    numbers = min(processes, commits) >= 1 and seconds > 0 and min(kills, server_kills, pauses, pause) >= 0
    if format_version not in race_suites.VERSIONS or not numbers:
        raise UsageError("race stress: unknown format version, or a number is too small")
    if catalog is not None and server is not None:
        raise UsageError("race stress: give a catalog or a server, not both")
    if server is None and (server_kills or client != stress_run.REFERENCE):
        raise UsageError("race stress: --server-kills and --client need --server")
    chosen = int(time.time()) if seed is None else seed
    settings = stress_run.Settings(
        catalog=catalog,
        server=server,
        client=client,
        location=location,
        processes=processes,
        seconds=seconds,
        kills_per_s=kills,
        server_kills=server_kills,
        pauses=pauses,
        pause_s=pause,
        max_commits=commits,
        version=format_version,
        seed=chosen,
        allow_remote=allow_remote,
    )
    with tempfile.TemporaryDirectory(prefix="iceberg-conformance-stress-") as name:
        directory = Path(name) if keep is None else keep.absolute()
        if keep is not None:
            _make(keep)
        report = stress_run.stress(settings, directory)
    if format == "json":
        document = {**attrs.asdict(report), "problems": [str(one) for one in report.problems], "seed": chosen}
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        for line in _stress_lines(report, processes, chosen):
            print(line)
    return ExitStatus.FAILURES if report.problems else ExitStatus.CONFORMANT


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"--keep {folder}: expected a folder that does not exist: {error.strerror}") from None


def _stress_lines(report: Any, processes: int, seed: int) -> Iterator[str]:
    """Yield the lines of the report of a stress run."""
    yield f"client: {report.client}"
    yield f"server: {report.server}"
    yield (
        f"{plural(report.acknowledged, 'commit')} of {processes} processes acknowledged in {report.seconds:.1f} s "
        f"({report.commits_per_s:.1f} a second): {', '.join(f'{n} {kind}' for kind, n in report.kinds.items())}"
    )
    yield (
        f"{report.refused} refused, {report.unknown} with an unknown result, {plural(report.observations, 'read')}; "
        f"{plural(report.kills, 'writer kill')}, {plural(report.server_kills, 'server kill')}, "
        f"{plural(report.pauses, 'pause')}; seed {seed}"
    )
    shown = "not shown by the catalog" if report.commits is None else plural(report.commits, "version")
    yield f"history of the table: {shown}; validated: {report.validated or 'no'}"
    for error, (number, there) in report.errors.items():
        yield f"{plural(number, 'commit')} ended in {error}; the rows of {there} of them are in the table"
    counts = Counter(one.kind for one in report.problems)
    for kind, words in judge.QUESTIONS.items():
        yield f"{words:>40}: {counts[kind]}"
    for problem in report.problems[:20]:
        yield f"wrong: {problem}"
    if len(report.problems) > 20:
        yield f"... and {len(report.problems) - 20} more"
    for known in known_problems.load_known():
        if known.explains(report.client, report.server, set(counts)):
            yield f"known: {known.does}"
    yield "nothing was lost" if not report.problems else plural(len(report.problems), "problem")


@app.command(show=False)
def soak(
    *,
    store: str | None = None,
    location: str | None = None,
    processes: int = 8,
    seconds: float = 30.0,
    kills: float = 1.0,
    format_version: Annotated[int, Parameter(name="--format-version")] = 3,
    seed: int | None = None,
    format: Format = "text",
) -> int:
    """Run race stress; this name is deprecated.

    Args:
        store: The --catalog of race stress.
        location: The location of the table's files.
        processes: How many processes commit at once.
        seconds: How long the processes commit.
        kills: How many processes are killed per second, on average.
        format_version: The format version of the table: 1, 2 or 3.
        seed: The seed of all random choices.
        format: Text for people, or JSON.
    """
    print("iceberg-conformance: race soak is deprecated; use race stress --catalog", file=sys.stderr)
    return stress(
        catalog=store,
        location=location,
        processes=processes,
        seconds=seconds,
        kills=kills,
        format_version=format_version,
        seed=seed,
        format=format,
    )


@app.command(name="servers")
def servers(*, format: Format = "text") -> int:
    """List the servers that race stress can start, the clients of each, and whether each is ready.

    Args:
        format: Text for people, or JSON.
    """
    rows: list[dict[str, Any]] = []
    for name, kind in catalog_servers.KINDS.items():
        reason = (
            catalog_servers.server_status(engine_catalog.find_server(kind.package)).reason if kind.package else None
        )
        clients = [*(["reference"] if kind.store_url else []), "pyiceberg"]
        rows.append({"name": name, "server": kind.title_and_version, "clients": clients, "reason": reason})
    if format == "json":
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return ExitStatus.CONFORMANT
    for row in rows:
        print(f"{row['name']:16} {row['server']} ({', '.join(row['clients'])}): {row['reason'] or 'ready'}")
    return ExitStatus.CONFORMANT
