"""The operations that can be asked of an implementation, a folder for each family of them.

A folder has everything about its operations:

- ``schema.json``: the operations, who does each, and the JSON Schema of their arguments and answers;
- ``comparators.py``: `COMPARATORS`, for each operation whether an answer is the one expected;
- ``reference.py``: how the reference answers (without it the reference does not have the operations);
- ``README.md``: what the operations mean, with examples, from which ``docs/protocol.md`` is made;
- where values need one, ``wire.py``: the form in which they travel.

``ICEBERG_CONFORMANCE_OPERATIONS`` names further folders of such folders, separated as in ``PATH``; their modules are
imported as those here. Adapters import the wire forms inside the environments of engines, so this needs no package.
"""

import os

VARIABLE = "ICEBERG_CONFORMANCE_OPERATIONS"
"""The environment variable that names folders of families beside those that come with the tool."""

__path__ += [
    os.path.abspath(os.path.expanduser(folder)) for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder
]
