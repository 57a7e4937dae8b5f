"""Keys of an encrypted table (Encryption Keys)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from spec_ref.core.records import EMPTY, record, spec_field
from spec_ref.core.versions import OMITTED, OPTIONAL, REQUIRED
from spec_ref.json.wire_types import STRING, STRING_MAP, RecordOf


@record(kw_only=True)
class EncryptionKey:
    """A key, encrypted by another key of the table or of its key management system.

    The example of Appendix C has ``key-metadata`` where the table of fields has ``encrypted-key-metadata``. This record
    follows the table, as known implementations do; the example is not a valid key (contradiction B10).
    """

    key_id: str = spec_field("key-id", v1=OMITTED, v2=OMITTED, v3=REQUIRED, requirement="ENC001", type=STRING)

    encrypted_key_metadata: str = spec_field(
        "encrypted-key-metadata", v1=OMITTED, v2=OMITTED, v3=REQUIRED, requirement="ENC002", type=STRING
    )
    """Base64 of the encrypted key and its metadata, whose form the table's encryption scheme determines."""

    encrypted_by_id: str | None = spec_field(
        "encrypted-by-id", v1=OMITTED, v2=OMITTED, v3=OPTIONAL, requirement="ENC003", type=STRING, default=None
    )
    """The id of the key that this one is encrypted with."""

    properties: Mapping[str, str] | None = spec_field(
        "properties", v1=OMITTED, v2=OMITTED, v3=OPTIONAL, requirement="ENC004", type=STRING_MAP, default=None
    )

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that no format version defines."""


ENCRYPTION_KEY = RecordOf(EncryptionKey, "an encryption key", requirement="TMD025")
