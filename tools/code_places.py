"""Where files name codes of requirements, for links from a rule to the places that name it."""

from __future__ import annotations

import re

# The text of a file is searched, with its docstrings and comments, because a definition states its rule in a docstring
# and leaves it to others to emit the code: no declaration lists such places. The result is links and counts for
# readers. Nothing is identified by it: a check is found by the registry, its requirements are declared there, a vector
# declares what it proves, and a proof names what it breaks.
_CODE = re.compile(r"\b[A-Z]{3}\d{3}\b")


def codes_in(text: str) -> list[str]:
    """Find the codes that a text names.

    Args:
        text: any text.

    Returns:
        The codes in their order, repeated ones too; some may not be in the register.
    """
    return _CODE.findall(text)
