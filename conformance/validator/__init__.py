"""Checking tables that any engine wrote against the spec: metadata, manifests, files and rows.

`run.validate` is the entry point. A check of one list, manifest or file is a pure function of a small picklable task;
rules over several files are group-bys of the facts that those checks emit. An engine (`local`, `spark`) maps tasks and
groups facts; the findings do not depend on the engine.
"""
