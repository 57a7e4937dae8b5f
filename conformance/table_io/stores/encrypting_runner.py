"""Commits to encrypted tables: manifest lists and manifests are encrypted as by Iceberg-Java, and decrypted.

Each manifest list and manifest has a new key. The key of a manifest is in the manifest list. The key of a manifest list
is in the table's ``encryption-keys``, encrypted with a key that the key service wraps, and that is used for several
snapshots.
"""

from __future__ import annotations

import time

from conformance.core.failures import UsageError
from conformance.table_io.encryption import (
    KEY_ID,
    WritingKeyService,
    decrypt_stream,
    encrypt_key_metadata,
    encrypt_stream,
    find_wrapping_key,
    key_length,
    manifest_list_key,
    new_file_key,
    new_wrapping_key,
    read_key_metadata,
    write_key_metadata,
)
from conformance.table_io.stores.runner import Runner
from conformance.table_io.stores.store import Store
from spec_ref.commits.payloads import FileKind, ManifestListPayload, ManifestPayload, Payload, encode
from spec_ref.core.records import evolve
from spec_ref.core.versions import TABLE_ENCRYPTION
from spec_ref.table_metadata.encryption import EncryptionKey
from spec_ref.table_metadata.metadata import TableMetadata


def check_keys(metadata: TableMetadata, keys: WritingKeyService | None) -> None:
    """Check that an encrypted table can be written.

    Args:
        metadata: the table.
        keys: the key service; None if there is none.

    Raises:
        UsageError: the table is encrypted, and there is no key service or the table does not name the master key.
    """
    encrypts = key_length(metadata.properties) is not None
    has_keys = any(one.key_id is not None for one in metadata.snapshots)
    if (encrypts or has_keys) and keys is None:
        raise UsageError("the table is encrypted, and cannot be written without a key service")
    if has_keys and not encrypts:
        raise UsageError(f"the table has encrypted snapshots, and cannot be written without the property {KEY_ID}")
    if encrypts and not TABLE_ENCRYPTION.is_supported(metadata.format_version):
        raise UsageError(f"{KEY_ID}: only tables of version 3 are encrypted, found version {metadata.format_version:d}")


class EncryptingRunner(Runner):
    """Performs the effects of a commit on an encrypted table.

    Args:
        store: the store of the table.
        keys: the key service.
        metadata: the metadata as it was last read; None for a new table.
    """

    def __init__(self, store: Store, keys: WritingKeyService, metadata: TableMetadata | None) -> None:
        super().__init__(store)
        self._keys = keys
        self._manifests: dict[str, bytes] = {}
        """The key metadata of the manifests that this commit wrote, and of those in manifest lists that it read."""

        self._lists: dict[str, tuple[TableMetadata, str]] = {}
        """For each manifest list of the table, the metadata that has its key, and the id of the key."""

        self._list_keys: dict[str, tuple[EncryptionKey, ...]] = {}
        """For each manifest list that this commit wrote, its key and the key that encrypts this key."""

        self._metadata: TableMetadata | None = None
        if metadata is not None:
            self._use(metadata)

    def _use(self, metadata: TableMetadata) -> None:
        self._metadata = metadata
        for one in metadata.snapshots:
            if one.manifest_list is not None and one.key_id is not None:
                self._lists[one.manifest_list] = metadata, one.key_id

    def load_bytes(self, path: str, kind: FileKind) -> bytes | None:
        """Read and decrypt a file; None if it does not exist."""
        data = super().load_bytes(path, kind)
        if data is None:
            return None
        if path in self._lists:
            return decrypt_stream(data, manifest_list_key(*self._lists[path], self._keys, path), path)
        if path in self._manifests:
            return decrypt_stream(data, read_key_metadata(self._manifests[path], path), path)
        return data

    def read(self, path: str, kind: FileKind) -> Payload | None:
        """Read a file, unless it is cached; None if it does not exist."""
        found = super().read(path, kind)
        if isinstance(found, TableMetadata):
            self._use(found)
        elif isinstance(found, ManifestListPayload):
            encrypted = {one.manifest_path: one.key_metadata for one in found.files if one.key_metadata is not None}
            self._manifests |= encrypted
        return found

    def write(self, path: str, content: Payload) -> int:
        """Write a file, encrypted unless it is table metadata; return its length."""
        if isinstance(content, TableMetadata):
            return super().write(path, self._with_keys(content))
        assert self._metadata is not None, "only an existing table gets snapshots"
        length = key_length(self._metadata.properties)
        if length is None:
            return super().write(path, content)
        if isinstance(content, ManifestListPayload):
            files = (
                evolve(one, key_metadata=self._manifests.get(one.manifest_path, one.key_metadata))
                for one in content.files
            )
            content = evolve(content, files=tuple(files))
        data, key = encrypt_stream(encode(content, path), new_file_key(length))
        self.store.write(path, data)
        if isinstance(content, ManifestPayload):
            self._manifests[path] = write_key_metadata(key)
        else:
            self._list_keys[path] = self._encrypt_list_key(write_key_metadata(key), self._metadata, length)
        return len(data)

    def _encrypt_list_key(self, plain: bytes, metadata: TableMetadata, length: int) -> tuple[EncryptionKey, ...]:
        """Encrypt the key metadata of a manifest list; return the wrapping key and the new key."""
        master, now_ms = metadata.properties[KEY_ID], int(time.time() * 1000)
        known = [*(metadata.encryption_keys or ()), *(key for made in self._list_keys.values() for key in made)]
        wrapping = find_wrapping_key(known, master, now_ms)
        if wrapping is None:
            wrapping = new_wrapping_key(self._keys, master, length, now_ms)
        return wrapping, encrypt_key_metadata(plain, wrapping, self._keys)

    def _with_keys(self, metadata: TableMetadata) -> TableMetadata:
        """Return metadata with the keys of the manifest lists that this commit wrote."""
        check_keys(metadata, self._keys)
        keys = {key.key_id: key for key in metadata.encryption_keys or ()}
        snapshots = []
        for one in metadata.snapshots:
            made = self._list_keys.get(one.manifest_list or "", ())
            keys |= {key.key_id: key for key in made}
            snapshots.append(evolve(one, key_id=made[-1].key_id) if made else one)
        return evolve(metadata, snapshots=tuple(snapshots), encryption_keys=tuple(keys.values())) if keys else metadata
