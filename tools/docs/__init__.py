"""The documentation: pages written by hand in ``docs/``, and pages generated from data.

`python -m tools.docs.site` combines them and builds ``site/`` with Sphinx, in which a warning is an error. Generated
pages are never committed, so that they cannot go stale. The tables of ``docs/protocol.md`` are an exception, because
people also read this page in the repository; `python -m tools.docs.protocol --check` compares them with the schema.
"""
