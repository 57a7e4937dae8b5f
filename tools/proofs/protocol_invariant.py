"""The invariant of all states of the protocol, and facts that may be known of a writer at a place in the code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tools.proofs.protocol_states import NONE, State, and_, implies, is_harmless, is_installed, is_over, not_, or_

GLOBAL: dict[str, Callable[[State], Any]] = {
    "the pointer is at the last version of the history": lambda s: and_(s.top >= 0, s.position[s.current] == s.top),
    "the number that stands for no version is never written, sent or part of the history": lambda s: and_(
        s.position[NONE] == -1, not_(s.sent[NONE]), not_(s.written[NONE])
    ),
}

OF_VERSIONS: dict[str, Callable[[State, Any], Any]] = {
    "a version has a place in the history or none": lambda s, v: and_(
        s.position[v] >= -1,
        s.position[v] <= s.top,
        or_(s.written[v], and_(s.position[v] < 0, not_(s.sent[v]))),
    ),
    "a version of the history continues the one before it, and was validated against it": lambda s, v: implies(
        s.position[v] > 0,
        and_(
            s.position[s.parent[v]] == s.position[v] - 1,
            s.valid[v] == s.parent[v],
            s.sent[v],
        ),
    ),
    "a swap expects what the new version was validated against": lambda s, v: implies(
        s.sent[v],
        and_(
            s.written[v],
            s.position[v] != 0,
            s.expected[v] == s.parent[v],
            s.valid[v] == s.parent[v],
        ),
    ),
    "the attempts before the last one are over": lambda s, v: implies(
        and_(s.written[v], s.position[v] != 0), or_(v == s.new[s.owner[v]], is_harmless(s, v))
    ),
    "every version but the first has an owner": lambda s, v: implies(
        s.written[v], (s.position[v] == 0) == (s.owner[v] < 0)
    ),
}
"""The invariant, of each version."""

OF_WRITERS: dict[str, Callable[[State, Any], Any]] = {
    "a writer has written its last version": lambda s, w: or_(
        s.new[w] == NONE, and_(s.written[s.new[w]], s.owner[s.new[w]] == w)
    ),
}
"""The invariant, of each writer."""


def are_different(state: State, one: Any, other: Any) -> Any:
    """Return whether two versions have different places in the history."""
    same = and_(is_installed(state, one), state.position[one] == state.position[other])
    return implies(same, one == other)


def unchanged(before: State, after: State, writer: Any) -> list[tuple[str, Any]]:
    """Return the facts about a writer, each with the condition that it stays true in a step."""
    return [(name, implies(fact(before, writer), fact(after, writer))) for name, fact in FACTS.items()]


IN_HISTORY = "its version is in the history"


FACTS: dict[str, Callable[[State, Any], Any]] = {
    "it has written": lambda s, w: s.new[w] != NONE,
    IN_HISTORY: lambda s, w: is_installed(s, s.new[w]),
    "its version is over": lambda s, w: is_over(s, s.new[w]),
    "its version is over, or was not sent": lambda s, w: or_(s.new[w] == NONE, is_harmless(s, s.new[w])),
    "its version is validated against its parent": lambda s, w: s.valid[s.new[w]] == s.parent[s.new[w]],
    "what its version continues is in the history": lambda s, w: is_installed(s, s.parent[s.new[w]]),
    "there is a version after the one that its version continues": lambda s, w: and_(
        is_installed(s, s.parent[s.new[w]]), s.position[s.parent[s.new[w]]] < s.top
    ),
    "the pointer that it read is in the history": lambda s, w: is_installed(s, s.pointer[w]),
    "what it loaded is in the history": lambda s, w: is_installed(s, s.loaded[w]),
    "it has not read its version as the pointer": lambda s, w: s.pointer[w] != s.new[w],
}
"""Facts that may be known of a writer at a place in the code; `protocol_model.Model` finds which of them are true."""
