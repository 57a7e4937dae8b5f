"""The fast path: the functions of the reference over Arrow and numpy arrays, and over many entries at once.

Nothing here is normative. Each module mirrors the module of the reference that has the definition, imports it, and is
compared with it by property tests and by the vectors; no definition imports anything from here.
`tests/columnar/test_every_kernel.py` fails if other code calls a kernel that no property test calls.
"""
