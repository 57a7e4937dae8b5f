"""Preparation of a Python worker of Spark, so that Spark's work between tasks is cheap.

A worker runs one task after another. Between two tasks, Spark clears Python's caches of the module path, so that the
directory of every archive on the path is read again, including that of Spark's jar with thousands of files. It also
collects garbage, which visits every object of every module. Both cost more than short tasks. Nothing here needs Spark.
"""

from __future__ import annotations

import gc
import sys
import zipimport


def prepare_worker() -> None:
    """Keep the cached contents of archives on the path, and hide imported objects from the garbage collector.

    A task calls this first. The archives of a session do not change while it runs.
    """
    for path, importer in sys.path_importer_cache.items():
        if isinstance(importer, zipimport.zipimporter):
            sys.path_importer_cache[path] = None  # created again from the cached contents when needed
    gc.freeze()
