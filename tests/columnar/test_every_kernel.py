"""Every kernel that other code calls is called by a property test, which compares it with its definition."""

from __future__ import annotations

from kernel_calls import kernels, property_tests

_FORMAT = "It reads a part of a format that Parquet or ORC defines, and the spec has no definition of it."
WITHOUT_DEFINITION = {
    "spec_ref.data_files.batches.empty_batch": "It has no rows.",
    "spec_ref.data_files.orc_footer.check_start": _FORMAT,
    "spec_ref.data_files.orc_footer.read_stripe_offsets": _FORMAT,
    "spec_ref.data_files.orc_timestamps.decode_integers": _FORMAT,
    "spec_ref.data_files.parquet_footer.logical_types": "It is about pyarrow: which types it does not write.",
    "spec_ref.data_files.parquet_reader.decrypted_footer": _FORMAT,
    "spec_ref.data_files.parquet_schema.check_parquet_schema": "It is a definition: tables of types in Appendix A.",
    "spec_ref.data_files.parquet_schema.columns_from_parquet": "It is a definition: tables of types in Appendix A.",
    "spec_ref.data_files.parquet_thrift.CompactReader": _FORMAT,
    "spec_ref.data_files.parquet_thrift.parse_schema": _FORMAT,
    "spec_ref.data_files.parquet_thrift.read_footer": _FORMAT,
}
"""What is not compared with a definition, and why."""


def test_every_kernel_has_a_property_test() -> None:
    found, tested = kernels(), property_tests().keys()
    assert sorted(found - tested) == sorted(WITHOUT_DEFINITION)
