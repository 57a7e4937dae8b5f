"""A dictionary that does not change, for the mappings of records, which are values and hashed by what they hold."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A ``dict`` that refuses every change. It has a hash where its values have one."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle and copy would fill an empty one.
        return FrozenDict, (dict(self),)

    def __copy__(self) -> FrozenDict[K, V]:
        return self

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        message = "the mapping of a record is immutable: make a new record with `evolve`"
        raise TypeError(message)

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse


EMPTY: FrozenDict[Any, Any] = FrozenDict()
"""The default of every mapping that may be empty."""


def freeze(mapping: dict[K, V] | None) -> FrozenDict[K, V] | None:
    """Make a mapping one that does not change.

    Args:
        mapping: any mapping, or None.

    Returns:
        The mapping itself if it is frozen already, a frozen copy of any other, and None for None.
    """
    return mapping if mapping is None or type(mapping) is FrozenDict else FrozenDict(mapping)
