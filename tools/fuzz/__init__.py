"""Fuzzing: broken input for every reader of bytes, and the same questions to several engines.

- `targets`: what reads bytes, with the errors that each documents.
- `mutations`: how inputs are broken: bytes, and for JSON, Avro, Puffin and deletion vectors the parts inside.
- `running`: the loop, with bounds on time and memory, in a separate process.
- `differential`: random questions to Iceberg-Java and PyIceberg, whose answers are compared with the reference's.

``make fuzz SECONDS=600`` runs all of it; see docs/hardening.md.
"""

from __future__ import annotations

from tools.posix import require_posix

require_posix("tools.fuzz")
