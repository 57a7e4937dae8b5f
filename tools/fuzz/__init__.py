"""Fuzzing: malformed input for every reader of bytes, and random questions for several engines.

- `targets`: the readers of bytes, with the errors that each documents.
- `mutations`: the ways to break inputs: bytes, and the parts inside JSON, Avro, Puffin and deletion vectors.
- `running`: the loop, with limits on time and memory, in a separate process.
- `differential`: random questions to Iceberg-Java and PyIceberg, whose answers are compared with the reference's.

``make fuzz SECONDS=600`` runs all of it; see docs/hardening.md.
"""

from __future__ import annotations

from tools.posix import require_posix

require_posix("tools.fuzz")
