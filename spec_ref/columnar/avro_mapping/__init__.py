"""Kernels for `spec_ref.avro_mapping`: records of decoded columns."""
