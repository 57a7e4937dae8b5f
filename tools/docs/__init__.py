"""The documentation: pages written by hand in ``docs/``, and pages generated from data.

`python -m tools.docs.site` puts both together and builds ``site/`` with Sphinx, in which a warning is an error. What is
made is never committed, so that it cannot go stale; the tables of ``docs/protocol.md`` are the exception, as that page
is read in the repository too, and `python -m tools.docs.protocol --check` checks them against the schema.
"""
