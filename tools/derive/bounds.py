"""Shortened bounds: the nearest text or bytes of limited length that is not above, or not below, a value."""

from __future__ import annotations

_FIRST_SURROGATE, _AFTER_SURROGATES, _LAST = 0xD800, 0xE000, 0x10FFFF


def _next(unit: int, text: bool) -> int | None:
    """Return the next code point or byte; None after the last one."""
    if unit == (_LAST if text else 0xFF):
        return None
    return _AFTER_SURROGATES if text and unit + 1 == _FIRST_SURROGATE else unit + 1


def truncate(type_: str, value: str, width: int, side: str) -> str | None:
    """Return the bound as vectors write it; None if there is none, as all units are the largest."""
    text = type_ == "string"
    units = [ord(character) for character in value] if text else list(bytes.fromhex(value))
    kept: list[int] | None = units[:width]
    if side == "upper" and len(units) > width:
        kept = None
        for last in range(width - 1, -1, -1):
            following = _next(units[last], text)
            if following is not None:
                kept = [*units[:last], following]
                break
    if kept is None:
        return None
    return "".join(map(chr, kept)) if text else bytes(kept).hex().upper()
