"""The fast path: the functions of the reference over Arrow and numpy arrays, and over many entries at once.

Nothing here is normative. Each module mirrors the module of the reference that has the definition, imports it, and is
compared with it by the tests in `tests/columnar` and by the vectors; no definition imports anything from here.
"""
