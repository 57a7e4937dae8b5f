"""Kernels for `spec_ref.avro_mapping`: records from decoded columns."""
