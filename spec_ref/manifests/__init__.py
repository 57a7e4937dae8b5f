"""Manifests: the lists of data files and delete files (Manifests)."""

from spec_ref.manifests.checks import check_manifest
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.manifest import Manifest
from spec_ref.manifests.reader import read_manifest
from spec_ref.manifests.writer import manifest_file, write_manifest

__all__ = [
    "DataFile",
    "EntryStatus",
    "FileContent",
    "FileFormat",
    "Manifest",
    "ManifestEntry",
    "check_manifest",
    "manifest_file",
    "read_manifest",
    "write_manifest",
]
