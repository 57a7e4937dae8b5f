"""Run a stress test: start the server and the writers, kill some, and report."""

from __future__ import annotations

import json
import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs

from conformance.core import drives
from conformance.core.counts import plural
from conformance.core.failures import NotExamined, UsageError
from conformance.engine_setup import EngineError, launch
from conformance.races.stress.journal import DONE, MAYBE, REFUSED, read_journals
from conformance.races.stress.judge import (
    DOUBLED,
    INVALID,
    LOST,
    PROCESS,
    Problem,
    count_unknown_outcomes,
    judge_journals,
)
from conformance.races.stress.table import read_final_table
from conformance.races.stress.writers import Work
from conformance.table_io.catalogs.servers import KINDS, LOOPBACK, S3, S3_ENVIRONMENT, ManagedServer, make_bucket
from conformance.table_io.stores.opening import check_url
from conformance.table_io.tables import load_table
from conformance.validator.catalogs import PREFIX, explain_error
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection
from conformance.validator.run import validate as validate_table
from spec_ref.checks.findings import Severity
from spec_ref.core.errors import SpecError

RESPONSE_TIMEOUT_S = 180.0
JOIN_TIMEOUT_S = 120.0
MAX_VALIDATED = 300
"""The maximum number of snapshots that are all validated; of more, only the heads are validated."""

MAX_REPORTED = 20
POLL_INTERVAL_S = 0.5

FILE_LISTED_TWICE = "SCN007"
"""The requirement that a table breaks if a commit added its files twice."""

REFERENCE, PYICEBERG = "reference", "pyiceberg"


class StressStopped(NotExamined):
    """The stress test could not be completed, so that nothing is known."""


@attrs.frozen(kw_only=True)
class Settings:
    """The settings of a run."""

    catalog: str | None = None
    """The URL of one of our stores, or ``catalog:NAME`` from PyIceberg's configuration; None for a server."""

    server: str | None = None
    """The server to start, by its name in `conformance.table_io.catalogs.servers`."""

    client: str = REFERENCE
    location: str | None = None
    processes: int = 8
    seconds: float = 30.0
    kills_per_s: float = 1.0
    server_kills: int = 0
    pauses: int = 0
    """How often a writer is paused for `pause_s`, like a machine that hangs for a while."""

    pause_s: float = 5.0
    max_commits: int = 1000
    """The maximum number of commits of each writer."""

    version: int = 2
    seed: int = 0
    allow_remote: bool = False
    """Whether the catalog may be on another machine."""


@attrs.define
class Report:
    """The result of a run."""

    client: str = ""
    server: str = ""
    catalog: str = ""
    commits: int | None = None
    """The number of versions in the table's history; None if the catalog does not show all of them."""

    acknowledged: int = 0
    refused: int = 0
    unknown: int = 0
    """The number of commits with unknown outcome: their writer was killed, or got an ambiguous error."""

    observations: int = 0
    kills: int = 0
    server_kills: int = 0
    pauses: int = 0
    seconds: float = 0.0
    kinds: dict[str, int] = attrs.field(factory=dict)
    """The number of acknowledged commits of each kind."""

    errors: dict[str, list[int]] = attrs.field(factory=dict)
    """For each ambiguous error, its number, and how many of these commits that add rows are in the table."""

    validated: str = ""
    problems: list[Problem] = attrs.field(factory=list)

    @property
    def commits_per_s(self) -> float:
        """The number of acknowledged commits per second."""
        return self.acknowledged / self.seconds if self.seconds else 0.0


# The location of the table


@attrs.frozen(kw_only=True)
class _Target:
    plan: dict[str, Any]
    server: str
    running: ManagedServer | None = None
    drop: bool = False


@contextmanager
def _target(settings: Settings, directory: Path) -> Iterator[_Target]:
    """Start the server, if there is one, and yield the information that writers need to connect."""
    name = f"t{uuid.uuid4().hex[:10]}"
    if settings.server is None:
        yield _named_target(settings, directory, name)
        return
    kind = KINDS.get(settings.server)
    if kind is None:
        raise UsageError(f"unknown server {settings.server}; the servers are {', '.join(KINDS)}")
    if settings.client == REFERENCE and kind.store_url is None:
        raise UsageError(f"--server {settings.server}: the reference does not support it; use --client pyiceberg")
    if settings.server_kills and not (kind.is_durable and kind.command):
        raise UsageError(f"--server {settings.server}: it loses its data when killed; use --server-kills 0")
    try:
        with ExitStack() as stack:
            s3 = ""
            if kind.needs_s3:
                mock = ManagedServer(S3, directory / "s3")
                stack.callback(mock.stop)
                s3 = mock.address.http
                make_bucket(s3)
                stack.enter_context(_environment({**S3_ENVIRONMENT, "AWS_ENDPOINT_URL_S3": s3}))
            running = ManagedServer(kind, directory / "server", s3)
            stack.callback(running.stop)
            at = running.address
            Path(at.folder, "warehouse").mkdir(exist_ok=True)
            if settings.client == REFERENCE:
                assert kind.store_url is not None
                base = "s3://lake/stress" if s3 else f"{at.warehouse}/stress"
                plan: dict[str, Any] = {"catalog": kind.store_url(at).format(table=name), "location": f"{base}/{name}"}
            else:
                plan = {"catalog": "stress", "table": f"stress.{name}", "properties": kind.pyiceberg_properties(at)}
            yield _Target(plan=plan, server=f"{kind.title_and_version}, started here", running=running)
    except EngineError as error:
        raise StressStopped(str(error)) from None


def _named_target(settings: Settings, directory: Path, name: str) -> _Target:
    """Return the target for a catalog that the caller names."""
    catalog = settings.catalog or f"sqlite://{directory}/catalog.db?table={name}"
    if catalog.startswith(PREFIX):
        own, _, namespace = catalog.removeprefix(PREFIX).partition(".")
        if not own:
            raise UsageError(f"{catalog}: a catalog is named catalog:NAME, or catalog:NAME.NAMESPACE")
        table = f"{namespace or 'stress'}.{name}"
        plan = {"catalog": own, "table": table, "location": settings.location or ""}
        return _Target(plan=plan, server=f"catalog {own} of PyIceberg's configuration", drop=True)
    check_url(catalog)
    parts = urlsplit(catalog)
    if (
        not settings.allow_remote
        and parts.hostname not in (None, LOOPBACK, "localhost", "::1")
        and (parts.scheme != "s3")
    ):
        raise UsageError(f"{catalog}: the catalog is on a different machine; use --allow-remote to allow it")
    location = settings.location or (catalog if parts.scheme in ("file", "") else (directory / "table").as_uri())
    return _Target(plan={"catalog": catalog, "location": location}, server=f"{parts.scheme or 'file'} store")


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


# The writers


class _WriterControl:
    """The process that forks the writers; when this process exits, it kills them and exits."""

    def __init__(self, plan: Work, log: Path) -> None:
        self._log = log
        command = ["-m", "conformance.races.stress.writer_processes", json.dumps(attrs.asdict(plan))]
        if plan.client == PYICEBERG:
            try:
                launched = launch(PYICEBERG)
            except EngineError as error:
                raise StressStopped(f"PyIceberg is needed for this catalog: {error}") from None
            command, env = [launched.command[0], *command], launched.env
            env = {**os.environ, **env, "AWS_EC2_METADATA_DISABLED": "true"}
        else:
            root = str(Path(__file__).parents[3])
            paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
            command, env = [sys.executable, *command], {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                command,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        self._answers: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._answer(RESPONSE_TIMEOUT_S)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as answers:
            for line in answers:
                self._answers.put(line)
        self._answers.put(None)

    def _answer(self, seconds: float) -> dict[str, Any]:
        try:
            line = self._answers.get(timeout=seconds)
        except queue.Empty:
            raise StressStopped(f"the writers' process did not answer in {seconds:g} s") from None
        if line is None:
            log_lines = self._log.read_text(errors="replace").strip().splitlines()
            raise StressStopped(f"the writers' process died: {'; '.join(log_lines[-2:])}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, command: str, *arguments: Any, seconds: float = RESPONSE_TIMEOUT_S) -> dict[str, Any]:
        """Send a command, and return its answer."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": command, "with": arguments}) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise StressStopped(f"the writers' process died: {error}") from None
        return self._answer(seconds)

    def end(self) -> None:
        """Kill all writers, and stop the process."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=JOIN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


# The run


def stress(settings: Settings, directory: Path, progress: Callable[[str], None] = lambda _: None) -> Report:
    """Run writers that commit to one new table, kill some, and compare their journals with the table.

    Args:
        settings: the settings of the run.
        directory: an empty directory for the journals and the files of a server.
        progress: called with each event.

    Returns:
        The report, with every problem that was found.

    Raises:
        UsageError: the settings contradict each other.
        StressStopped: the run could not be completed, for example because the catalog cannot be reached.
    """
    if drives.WINDOWS:
        raise StressStopped("race stress: writers are forked on POSIX systems only, not on Windows")
    journals = directory / "journals"
    journals.mkdir()
    if settings.catalog is not None and settings.catalog.startswith(PREFIX):
        settings = attrs.evolve(settings, client=PYICEBERG)
    with _target(settings, directory) as target, ExitStack() as stack:
        progress(f"{target.server}: starting {settings.processes} writers")
        plan = Work(
            client=settings.client,
            journals=str(journals),
            max_commits=settings.max_commits,
            version=settings.version,
            seed=settings.seed,
            allow_remote=settings.allow_remote,
            **target.plan,
        )
        writers_process = _WriterControl(plan, directory / "writers.log")
        stack.callback(writers_process.end)
        made = _call_client(writers_process, "create", plan)
        report = Report(client=made["client"], server=target.server, catalog=plan.catalog)
        started = time.monotonic()
        _run_writers(settings, target, writers_process, report)
        report.seconds = time.monotonic() - started
        progress(f"{report.kills} writers were killed; checking")
        location = _call_client(writers_process, "locate", plan)
        operations = read_journals(journals)
        report.acknowledged = sum(one.outcome == DONE and one.kind != "observe" for one in operations)
        report.acknowledged += made["commits"]
        report.refused = sum(one.outcome == REFUSED for one in operations)
        report.unknown = sum(one.outcome == MAYBE and one.kind != "observe" for one in operations)
        report.observations = sum(one.kind == "observe" and one.outcome == DONE for one in operations)
        report.kinds = dict(
            Counter(one.kind for one in operations if one.outcome == DONE and one.kind != "observe").most_common()
        )
        if location is None:
            report.problems.append(Problem(LOST, "the table is not in the catalog any more"))
            return report
        _check(location, made["commits"], operations, report)
        if target.drop and not report.problems:
            _call_client(writers_process, "drop", plan)
    return report


def _call_client(writers_process: _WriterControl, what: str, plan: Work) -> Any:
    answer = writers_process.ask("call", what)
    if "error" in answer:
        error = answer["error"]
        if plan.table and not plan.properties:  # the user configured the catalog
            error = explain_error(plan.catalog, error, answer.get("error_class"))
        raise StressStopped(error)
    return answer["answer"]


def _run_writers(settings: Settings, target: _Target, writers_process: _WriterControl, report: Report) -> None:
    """Start writers; kill and pause some of them, and kill the server, until the time is up."""
    chance = random.Random(settings.seed)
    until = time.monotonic() + settings.seconds
    writers = list(range(settings.processes))
    for writer in writers:
        writers_process.ask("start", writer, until)
    server_kills = _spread(settings.server_kills, settings.seconds)
    pauses = _spread(settings.pauses, max(0.0, settings.seconds - settings.pause_s))
    paused: dict[int, float] = {}
    kill_at = _next_kill(settings, chance)
    look_at = 0.0
    while time.monotonic() < until - 1:
        time.sleep(0.02)
        now = time.monotonic()
        if now > look_at:
            look_at = now + POLL_INTERVAL_S
            if not writers_process.ask("running")["running"]:  # each writer has made its maximum number of commits
                break
        if server_kills and now > server_kills[0]:
            server_kills.pop(0)
            assert target.running is not None
            target.running.kill()
            report.server_kills += 1
            target.running.start()
        if pauses and now > pauses[0]:
            pauses.pop(0)
            victim = chance.choice(writers)
            writers_process.ask("signal", victim, signal.SIGSTOP)
            paused[victim] = now + settings.pause_s
            report.pauses += 1
        for writer in [writer for writer, end in paused.items() if end < now]:
            writers_process.ask("signal", writer, signal.SIGCONT)
            del paused[writer]
        if now > kill_at:
            victim = chance.choice([writer for writer in writers if writer not in paused] or writers)
            paused.pop(victim, None)
            report.kills += writers_process.ask("kill", victim)["killed"]
            writers[writers.index(victim)] = max(writers) + 1
            writers_process.ask("start", max(writers), until)
            kill_at = _next_kill(settings, chance)
    for writer in paused:
        writers_process.ask("signal", writer, signal.SIGCONT)
    wrong = writers_process.ask("join", JOIN_TIMEOUT_S, seconds=JOIN_TIMEOUT_S + RESPONSE_TIMEOUT_S)["wrong"]
    report.problems += [Problem(PROCESS, f"writer {writer} {how}") for writer, how in wrong.items()]


def _spread(times: int, seconds: float) -> list[float]:
    """Return equally spaced times."""
    now = time.monotonic()
    return [now + seconds * (number + 1) / (times + 1) for number in range(times)]


def _next_kill(settings: Settings, chance: random.Random) -> float:
    if not settings.kills_per_s:
        return float("inf")
    return time.monotonic() + chance.expovariate(settings.kills_per_s)


def _check(location: str, setup: int, operations: list[Any], report: Report) -> None:
    try:
        found = read_final_table(location, setup)
    except (SpecError, NotExamined) as error:
        twice = isinstance(error, SpecError) and error.violation.requirement == FILE_LISTED_TWICE
        report.problems.append(Problem(DOUBLED if twice else INVALID, f"the table cannot be read: {error}"))
    else:
        report.commits = found.versions
        report.problems += judge_journals(operations, found)
        report.errors = {error: list(counts) for error, counts in count_unknown_outcomes(operations, found).items()}
        _validate(location, report)


def _validate(location: str, report: Report) -> None:
    """Check the table with the validator at all levels, including rows."""
    snapshots = SnapshotSelection("refs" if len(load_table(location).metadata.snapshots) > MAX_VALIDATED else "all")
    try:
        checked = validate_table(location, Level.ROWS, LocalBackend(), snapshots)
    except NotExamined as error:
        report.problems.append(Problem(INVALID, str(error)))
        return
    errors = [str(one) for one in checked.findings if one.severity is Severity.ERROR]
    report.validated = f"{plural(len(errors), 'error')} at level rows, snapshots {snapshots.kind}"
    report.problems += [Problem(INVALID, text) for text in errors[:MAX_REPORTED]]
