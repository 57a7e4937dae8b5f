"""The world that writers find: what some changes make, one after the other, from nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import evolve

from conformance.races.world import Placed, World
from spec_ref.commits.commit import commit
from spec_ref.commits.effects import DeleteFile, Draw, ReadFile, ReadPointer, SwapPointer, WriteFile


def world_of(changes: Sequence[Any], table: Any, data_files: Sequence[str] = ()) -> World:
    """The world that some changes make, one after the other, from nothing."""
    world = World(table, (), dict.fromkeys(data_files))
    for number, change in enumerate(changes):
        steps = commit(change, table)
        answer: Any = None
        names = 0
        try:
            while True:
                match steps.send(answer):
                    case Draw.NAME:
                        names += 1
                        answer = f"base{number}-{names}"
                    case Draw.SNAPSHOT_ID:
                        answer = 10 + number
                    case Draw.NOW:
                        answer = 1000 + number
                    case ReadPointer():
                        answer = world.pointer
                    case ReadFile(path):
                        answer = world.files.get(path)
                    case WriteFile(path, content):
                        world = evolve(world, files={**world.files, path: content})
                        answer = 1
                    case SwapPointer(expected, new):
                        world, answer = world.swapped(-1, expected, new)
                    case DeleteFile(path):
                        world = evolve(world, files={name: one for name, one in world.files.items() if name != path})
                        answer = None
        except StopIteration:
            continue
    return evolve(world, history=tuple(Placed(one.location, one.written, -1) for one in world.history))
