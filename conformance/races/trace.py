"""Describe steps for the traces of schedules."""

from __future__ import annotations

from spec_ref.commits.effects import DeleteFile, Effect, ReadFile, ReadPointer, SwapPointer


def describe_step(effect: Effect | None) -> str:
    """Describe the step of a writer in a few words."""
    match effect:
        case ReadPointer():
            return "reads the pointer"
        case SwapPointer(expected, new):
            return f"swaps {_name(expected)} for {_name(new)}"
        case ReadFile(path):
            return f"reads {_name(path)}"
        case DeleteFile(path):
            return f"deletes {_name(path)}"
    return str(effect)


def _name(path: str | None) -> str:
    return "nothing" if path is None else path.rsplit("/", 1)[-1]
