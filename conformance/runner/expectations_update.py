"""Updating a file of known deviations from the results of a run (``run --expect FILE --update-expected``).

An entry that still applies is kept unchanged, with the comments before it. An entry that no longer applies is
removed, or loses the vectors that it no longer applies to. A new failure becomes an entry with `TODO` as its reason.
Entries of other engines and versions, and vectors that were not selected, stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import rtoml
from attrs import evolve, field, frozen

from conformance.core.failures import UsageError
from conformance.core.json_text import dump_json
from conformance.operations.protocol import StartAnswer
from conformance.runner.expectations import SHIPPED, Deviation, DeviationKind, Expectations, read_deviations
from conformance.runner.judge import Outcome
from conformance.runner.results import AdapterRun, Result, Run

TODO = "TODO: why is it wrong, and who is affected?"
"""The reason of an entry that nobody has reviewed."""

HEADING = re.compile(r"(?m)^\[\[deviation\]\]")
PINNED = 300
"""The maximum number of characters of an answer that an entry states in full; a longer one is only described in
`does`."""


@frozen
class DeviationText:
    """One entry of the file, with its text."""

    deviation: Deviation
    text: str
    """Its lines, with the comments right before it."""


@frozen
class ExpectationsUpdate:
    """An updated file, and how many entries changed."""

    text: str
    kept: int
    changed: int
    removed: int
    added: int
    todo: int = field(default=0)
    """The number of entries whose reason is still to be written."""

    def __str__(self) -> str:
        counts = (("kept", self.kept), ("changed", self.changed), ("removed", self.removed), ("new", self.added))
        summary = ", ".join(f"{number} {word}" for word, number in counts)
        return summary + (f"; reasons to write, marked TODO: {self.todo}" if self.todo else "")


def update_target(name: str | None) -> Path:
    """Return the file that an update is to be written to.

    Raises:
        UsageError: no file is named, or it is a folder or comes with the tool.
    """
    if name is None:
        raise UsageError("--update-expected: name the file, with --expect FILE")
    if name == SHIPPED or Path(name).is_dir():
        raise UsageError(f"--update-expected: {name} comes with the tool, or is a folder")
    return Path(name)


def deviations_before(path: Path) -> Expectations:
    """Read the deviations of a file that need not exist yet; vectors that no longer exist are ignored."""
    if not path.exists():
        return Expectations((), str(path))
    return Expectations(read_deviations(path), str(path))


def update_expectations(path: Path, run: Run, ids: Collection[str]) -> ExpectationsUpdate:
    """Update a file to match the results of a run.

    Args:
        path: the file, which need not exist.
        run: a complete run that used the deviations of the file.
        ids: the ids of all vectors.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    head, entries = _split(text, deviations_before(path).deviations)
    held = _adapter_results(run)
    new = _NewFailures(run, held)
    pieces, kept, changed, removed = [head], 0, 0, 0
    for entry in entries:
        vectors = tuple(
            id_ for id_ in entry.deviation.vectors if id_ in ids and held.keeps_vector(entry.deviation, id_)
        )
        if vectors == entry.deviation.vectors:
            pieces.append(entry.text)
            kept += 1
        elif vectors:
            pieces.append(_without(entry, vectors))
            changed += 1
        else:
            pieces.append(_leading_comment(entry.text) if entry is entries[0] and not head.strip() else "")
            removed += 1
    copied = list(new.copied_entries([entry.deviation for entry in entries]))
    added = list(new.new_entries())
    pieces += [write_entry(deviation) for deviation in (*copied, *added)]
    whole = "\n\n".join(piece.strip("\n") for piece in pieces if piece.strip()) + "\n"
    deviations = read_deviations(path, whole)
    todo = sum(deviation.reason.startswith("TODO") for deviation in deviations)
    return ExpectationsUpdate(whole, kept, changed, removed, len(copied) + len(added), todo)


def _split(text: str, deviations: Sequence[Deviation]) -> tuple[str, list[DeviationText]]:
    """Split a file into the text before the first entry, and the entries with their comments."""
    starts = [match.start() for match in HEADING.finditer(text)]
    if len(starts) != len(deviations):  # the entries are in another notation of TOML, or a string contains a heading
        return "", [DeviationText(deviation, write_entry(deviation)) for deviation in deviations]
    if not deviations:
        return text, []
    begins = [_comments_before(text, start) for start in starts]
    ends = [*begins[1:], len(text)]
    entries = [DeviationText(one, text[a:b]) for one, a, b in zip(deviations, begins, ends, strict=True)]
    return text[: begins[0]], entries


def _comments_before(text: str, start: int) -> int:
    """Return the start of the comment lines right before a position."""
    while start:
        line = text.rfind("\n", 0, start - 1) + 1
        if not text[line:start].startswith("#"):
            break
        start = line
    return start


def _leading_comment(text: str) -> str:
    """Return the comment of the first entry, which stays when the entry is removed, as it may be about the file."""
    return "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))


def _without(entry: DeviationText, vectors: tuple[str, ...]) -> str:
    """Return the text of an entry with fewer vectors, and its other lines unchanged."""
    listed = "vectors = [\n" + "".join(f'  "{id_}",\n' for id_ in vectors) + "]"
    text, found = re.subn(r"(?ms)^vectors\s*=\s*\[.*?\]", lambda _: listed, entry.text)
    try:
        rows = rtoml.loads(text)["deviation"] if found == 1 else []
    except ValueError:
        rows = []
    right = len(rows) == 1 and tuple(rows[0]["vectors"]) == vectors
    return text if right else write_entry(evolve(entry.deviation, vectors=vectors))


@frozen
class _AdapterResults:
    """The adapters that ran, and their results."""

    ran: tuple[tuple[AdapterRun, StartAnswer], ...]
    results: dict[tuple[str, str], Result]

    def keeps_vector(self, deviation: Deviation, id_: str) -> bool:
        """Return whether a vector stays in an entry: it still fails, or did not run on the engine of the entry.

        A vector that another adapter of the engine does not support did not run there. A run in which a vector does not
        fail shows nothing if the answer is undefined.
        """
        if deviation.sometimes:
            return True
        asked = []
        for one, who in self.ran:
            result = self.results.get((one.name, id_)) if deviation.applies_to(one.name, who) else None
            unreached = result and result.outcome is Outcome.UNSUPPORTED and deviation.is_shared_with(one.name)
            if result is not None and not unreached:
                asked.append(result)
        return not asked or any(result.status == "known" for result in asked)


def _adapter_results(run: Run) -> _AdapterResults:
    ran = tuple(
        (one, StartAnswer(one.implementation, one.version, frozenset())) for one in run.adapters if not one.not_examined
    )
    return _AdapterResults(ran, {(result.adapter, result.id): result for result in run.results})


class _NewFailures:
    """The failures that no entry of the file explains."""

    def __init__(self, run: Run, held: _AdapterResults) -> None:
        self._run = run
        self._held = held
        wrong = (Outcome.FAILED, Outcome.CRASHED)
        self._left = {key: one for key, one in held.results.items() if one.outcome in wrong and one.status != "known"}

    def copied_entries(self, deviations: Sequence[Deviation]) -> Iterator[Deviation]:
        """Yield copies of entries of other versions, for vectors that fail alike in the version that ran."""
        for deviation in deviations:
            for adapter, who in self._held.ran:
                if not deviation.versions or not evolve(deviation, versions=()).applies_to(adapter.name, who):
                    continue
                ids = tuple(id_ for id_ in deviation.vectors if self._takes(deviation, adapter.name, id_))
                if ids:
                    yield evolve(deviation, versions=(who.version,), vectors=ids)

    def _takes(self, deviation: Deviation, adapter: str, id_: str) -> bool:
        result = self._left.get((adapter, id_))
        if result is None or (deviation.answer is not None and deviation.answer != _answer(result)):
            return False
        del self._left[adapter, id_]
        return True

    def new_entries(self) -> Iterator[Deviation]:
        """Yield an entry for each engine, suite, operation and kind of failure."""
        names = {adapter.name: (_engine(adapter.name, who), who.version) for adapter, who in self._held.ran}
        groups: dict[tuple[str, ...], list[Result]] = {}
        for (name, id_), result in self._left.items():
            case = self._run.cases[id_]
            key = (*names[name], case.suite, case.operation, _failure_kind(result))
            groups.setdefault(key, []).append(result)
        for (engine, version, _, operation, kind), results in sorted(groups.items()):
            answers = [_answer(result) for result in results]
            same = all(answer == answers[0] for answer in answers) and len(dump_json(answers[0])) <= PINNED
            yield Deviation(
                engine=engine,
                versions=(version,),
                vectors=tuple(sorted({result.id for result in results})),
                does=f"{operation}: {kind if len(results) > 1 else results[0].reason}",
                answer=answers[0] if same else None,
                reason=TODO,
            )


def _engine(adapter: str, who: StartAnswer) -> str:
    """Return the engine to name in an entry: that of an adapter of the tool, or the implementation of a command."""
    return who.implementation if set(adapter) & set(" /:") else adapter.partition("@")[0]


def _answer(result: Result) -> dict[str, object]:
    """Return the answer of a failure as an entry states it."""
    got = result.got or {}
    if "error" in got:
        return {"error": got["error"]}
    return {"ok": got["ok"]} if "ok" in got else {"crash": True}


def _failure_kind(result: Result) -> str:
    """Describe a failure in a few words."""
    if result.outcome is Outcome.CRASHED:
        return "crashes"
    kind = (result.got or {}).get("error")
    return f"refuses ({kind})" if kind else "answers differently"


def write_entry(deviation: Deviation) -> str:
    """Return an entry as TOML."""
    lines = ["[[deviation]]"]
    if deviation.id:
        lines.append(f"id = {_text(deviation.id)}")
    lines.append(f"engine = {_text(deviation.engine)}")
    if deviation.versions:
        lines.append(f"versions = {_texts(deviation.versions)}")
    if deviation.kind is not DeviationKind.DEVIATION or deviation.id:
        lines.append(f"kind = {_text(deviation.kind.value)}")
    if deviation.requirements:
        lines.append(f"requirements = {_texts(deviation.requirements)}")
    if deviation.points:
        lines.append(f"points = {_texts(deviation.points)}")
    if deviation.does:
        lines.append(f"does = {_text(deviation.does)}")
    if deviation.answer is not None:
        lines.append(f"answer = {_text(dump_json(deviation.answer))}")
    if deviation.sometimes:
        lines.append("sometimes = true")
    lines.append(f"reason = {_text(deviation.reason)}")
    if deviation.counter:
        lines.append(f"counter = {_text(deviation.counter)}")
    lines.append(f"evidence = {_text(deviation.evidence)}")
    if deviation.upstream:
        lines.append(f"upstream = {_texts(deviation.upstream)}")
    lines.append("vectors = [")
    lines += [f"  {_text(id_)}," for id_ in deviation.vectors]
    return "\n".join([*lines, "]"])


def _texts(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_text, texts))}]"


def _text(text: str) -> str:
    """Return a TOML string: a literal one if it needs no escapes that way, else a basic one."""
    plain = all(character.isprintable() for character in text)
    if plain and '"' in text and "'" not in text and "\\" not in text:
        return f"'{text}'"
    shown = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else _escape_character(c) for c in shown) + '"'


def _escape_character(character: str) -> str:
    code = ord(character)
    if 0xD800 <= code < 0xE000:
        return "\\uFFFD"  # TOML has no lone surrogates
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
