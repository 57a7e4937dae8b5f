"""The page of the Python API: the docstrings of its modules, by Sphinx's autodoc."""

from __future__ import annotations

import conformance
import spec_ref

_PAGE = """# Python API

What `import {first}` and `import {second}` offer. [From Python](from-python.md) shows how to use it.

## `conformance`

```{{eval-rst}}
.. currentmodule:: conformance

{conformance}
```

## `spec_ref`

```{{eval-rst}}
.. currentmodule:: spec_ref

{spec_ref}
```
"""


def page() -> str:
    """Make the page.

    Returns:
        Markdown with directives of autodoc.
    """
    return _PAGE.format(
        first="conformance", second="spec_ref", conformance=_functions(conformance), spec_ref=_functions(spec_ref)
    )


def _functions(module: object) -> str:
    names = [name for name in module.__all__ if name.islower()]  # type: ignore[attr-defined]
    return "\n".join(f".. autofunction:: {name}" for name in names)
