"""Checking tables that any engine wrote against the spec: metadata, manifests, files and rows.

`run.validate` is the entry point. A check of one manifest list, manifest or file is a pure function of a small
picklable task. It emits findings, and facts for the rules over several files: rows with the key by which these rules
group them. A backend (`local`, `spark`) runs the tasks and groups the facts; the findings do not depend on the backend.
"""
