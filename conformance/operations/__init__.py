"""The operations that an implementation can be asked to run, with one folder for each family.

Each folder holds everything about its operations:

- ``schema.json``: the operations, their roles, and the JSON Schemas of their arguments and answers;
- ``comparators.py``: `COMPARATORS`, the function that compares the answers of each operation;
- ``reference.py``: how the reference answers (without this module, it does not support the operations);
- ``README.md``: what the operations mean, with examples; ``docs/protocol.md`` is generated from it;
- ``wire.py``, if needed: the exchange form of values.

``ICEBERG_CONFORMANCE_OPERATIONS`` lists more directories with such folders, separated as in ``PATH``; their modules are
imported like those here. This module imports no package, because adapters import the wire forms inside the environments
of engines.
"""

import os

VARIABLE = "ICEBERG_CONFORMANCE_OPERATIONS"
"""The environment variable that lists directories with more families of operations."""

__path__ += [
    os.path.abspath(os.path.expanduser(folder)) for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder
]
