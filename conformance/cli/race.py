"""``iceberg-conformance race``."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from conformance.cli.progress import progress
from conformance.failures import ExitStatus, UsageError

app = App(name="race", help="Race commits against each other: in every order, or as many processes on a real table.")

Format = Literal["text", "json"]


@app.command(name="list")
def list_changes(*, format: Format = "text") -> int:
    """List the changes that can race, by format version and fixture, and the faults that can happen to their steps.

    Args:
        format: Text for people, or JSON.
    """
    from conformance.races.suites import ALL_FAULTS, DEFAULT_FIXTURE, READ, TABLES, VERSIONS, names
    from conformance.races.table_fixtures import FIXTURES

    found = {
        "changes": {str(version): [*names(version), READ] for version in VERSIONS},
        "faults": list(ALL_FAULTS),
        "tables": list(TABLES),
        "fixtures": {
            name: {
                "about": one.about,
                "changes": {str(version): [*names(version, name), READ] for version in one.versions},
            }
            for name, one in FIXTURES.items()
        },
    }
    if format == "json":
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return ExitStatus.CONFORMANT
    for name, one in FIXTURES.items():
        print(f"{name}: {one.about}" + (" (the default)" if name == DEFAULT_FIXTURE else ""))
        for version in one.versions:
            print(f"  v{version}: {', '.join((*names(version, name), READ))}")
    print(f"faults: {', '.join(ALL_FAULTS)}")
    print(f"tables: {', '.join(TABLES)}")
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
    """Race a few changes in every order of their steps, or in one.

    Exit status: 1 where something is wrong, with the schedule that shows it.

    Args:
        changes: The change of each writer, as race list names them; read for a reader.
        format_version: The version of the table: 1, 2 or 3.
        table: metastore or file-system.
        fixture: The table that they race on, as race list names it.
        faults: How many faults may happen in one schedule.
        kind: The kinds of faults; all where not given. May be repeated.
        schedule: Follow this one schedule: writers by number, with the fault that happens to their step, as in
            "0 1 1:crash".
        format: Text for people, or JSON.
    """
    from conformance.races.suites import ALL_FAULTS, READ, TABLES, VERSIONS, Race, names, replay
    from conformance.races.suites import play as played

    if (
        format_version not in VERSIONS
        or table not in TABLES
        or set(kind) - set(ALL_FAULTS)
        or not names(format_version, fixture)
    ):
        raise UsageError("race play: there is no such version, table, fixture or kind of fault; see race list")
    unknown = [name for name in changes if name not in (*names(format_version, fixture), READ)]
    if unknown or not changes:
        raise UsageError(f"race play: name changes of race list; unknown: {', '.join(unknown) or 'none given'}")
    chosen = kind or (ALL_FAULTS if faults or schedule else ())
    race = Race(format_version, table, changes, tuple(chosen), faults, fixture)
    if schedule is None:
        found = played(race)
        return _tell([_row(found)], format)
    steps = _steps(schedule, len(changes))
    try:
        trace, outcome, problems = replay(race, steps)
    except ValueError as error:
        raise UsageError(f"race play: {error}") from None
    if format == "json":
        told = {"trace": trace, "outcome": outcome, "problems": problems}
        sys.stdout.write(json.dumps(told, indent=2) + "\n")
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
    """Race every pair of changes, three writers with the core changes, and readers among writers, in every order.

    Exit status: 1 where something is wrong, with the schedules that show it.

    Args:
        format_version: Versions of the table; all where not given. May be repeated.
        table: metastore, file-system; both where not given. May be repeated.
        suite: pairs, triples, readers; all where not given. May be repeated.
        fixture: The tables that they race on, as race list names them; all where not given. May be repeated.
        faults: How many faults may happen in one schedule of a pair.
        thorough: Let every suite race on every fixture and kind of table, three writers crash and miss replies, and
            check every file in its bytes too. Else only pairs race on all fixtures, in a metastore.
        processes: How many races are explored at once; as many as there are processors where not given.
        format: Text for people, or JSON.
    """
    from conformance.races import suites
    from conformance.races.table_fixtures import FIXTURES

    versions, tables = format_version or suites.VERSIONS, table or tuple(suites.TABLES)
    if set(versions) - set(suites.VERSIONS) or set(tables) - set(suites.TABLES):
        raise UsageError("race explore: there is no such version or table; see race list")
    if set(fixture) - set(FIXTURES):
        raise UsageError("race explore: there is no such fixture; see race list")
    chosen = suite or ("pairs", "triples", "readers")
    races = suites.races(chosen, versions, tables, fixture or tuple(FIXTURES), faults, thorough=thorough)
    if not races:
        raise UsageError("race explore: no fixture has such a version; see race list")
    rows = []
    with progress() as tell:
        for number, found in enumerate(suites.play_all(races, processes, encoded=thorough), 1):
            rows.append(_row(found))
            tell("races", number, len(races))
    return _tell(rows, format)


def _row(found: Any) -> dict[str, Any]:
    race, explored = found.race, found.explored
    command = ["iceberg-conformance", "race", "play", *race.changes, "--format-version", str(race.version)]
    command += ["--table", race.table, "--fixture", race.fixture]
    if race.most_faults:
        command += ["--faults", str(race.most_faults)]
    return {
        "race": str(race),
        "schedules": explored.schedules,
        "states": explored.states,
        "seconds": round(found.seconds, 3),
        "outcomes": {" | ".join(outcome): number for outcome, number in sorted(explored.outcomes.items())},
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
    from conformance.races.suites import ALL_FAULTS

    steps = []
    for word in text.split():
        writer, _, what = word.partition(":")
        if not writer.isdigit() or (what and what not in (*ALL_FAULTS, "arrives")) or int(writer) >= writers:
            raise UsageError(f"race play: {word} is no step of a schedule")
        steps.append((int(writer), what or "step"))
    return tuple(steps)


def _tell(rows: list[dict[str, Any]], format: Format) -> int:
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
        for outcome, number in rows[0]["outcomes"].items():
            print(f"{number:>12,}  {outcome}")
    schedules, states = sum(row["schedules"] for row in rows), sum(row["states"] for row in rows)
    seconds = sum(row["seconds"] for row in rows)
    print(
        f"{len(rows)} races, {schedules:,} schedules through {states:,} states in {seconds:.1f} s of work: "
        f"{len(wrong)} with something wrong"
    )
    return ExitStatus.FAILURES if wrong else ExitStatus.CONFORMANT


@app.command
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
    """Let many processes commit to one real table, kill some, and check that nothing acknowledged was lost.

    Exit status: 1 where something was lost.

    Args:
        store: Where the table is: file:///directory, sqlite:///file.db?table=name or
            postgresql://user@host:port/database?table=name; a new SQLite file where not given. The table is not there
            yet.
        location: The location of the table's files; a new temporary directory where not given.
        processes: How many processes commit at once.
        seconds: For how long.
        kills: How many processes are killed in a second, on average; 0 for none.
        format_version: The version of the table: 1, 2 or 3.
        seed: Makes the same choices again.
        format: Text for people, or JSON.
    """
    import attrs

    from conformance.races.soak import Settings
    from conformance.races.soak import soak as soaked
    from conformance.races.suites import VERSIONS

    if format_version not in VERSIONS or processes < 1 or seconds <= 0 or kills < 0:
        raise UsageError("race soak: there is no such version, or a number is too small")
    with tempfile.TemporaryDirectory(prefix="iceberg-conformance-soak-") as name:
        directory = Path(name)
        (directory / "journals").mkdir()
        table = location or (
            store if store is not None and store.startswith("file:") else (directory / "table").as_uri()
        )
        url = store or f"sqlite://{directory}/catalog.db?table=soak"
        chosen = int(time.time()) if seed is None else seed
        settings = Settings(url, table, processes, seconds, kills, format_version, chosen)
        report = soaked(settings, directory / "journals")
    if format == "json":
        sys.stdout.write(json.dumps({**attrs.asdict(report), "seed": chosen}, indent=2) + "\n")
    else:
        print(
            f"{report.acknowledged} commits acknowledged of {processes} processes in {report.seconds:.1f} s "
            f"({report.commits_per_s:.1f} a second), {report.kills} processes killed, seed {chosen}"
        )
        print(
            f"{report.conflicts} conflicts, {report.failed} gave up, {report.unknown} not known, "
            f"{report.commits} in the history of the table"
        )
        for problem in report.problems:
            print(f"wrong: {problem}")
        print("nothing was lost" if not report.problems else f"{len(report.problems)} things are wrong")
    return ExitStatus.FAILURES if report.problems else ExitStatus.CONFORMANT
