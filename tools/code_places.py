"""Find the requirement codes that files name, for links from a rule to the places that name it."""

from __future__ import annotations

import re

# The whole text of a file is searched, with its docstrings and comments, because a definition states its rule in its
# docstring while another module emits the code, and no declaration lists such places. The result is used for links and
# counts.  Nothing is identified by it: a check is found by the registry, its requirements are declared there, a vector
# declares what it proves, and a proof names what it breaks.
_CODE = re.compile(r"\b[A-Z]{3}\d{3}\b")


def codes_in(text: str) -> list[str]:
    """Find the codes that a text names.

    Args:
        text: any text.

    Returns:
        The codes in the order of the text, with repetitions; some may not be in the register.
    """
    return _CODE.findall(text)
