"""What a Python worker of Spark does before a task, so that what Spark does between tasks costs little.

A worker serves one task after the other. Between them Spark lets Python forget what it knows of the path for modules,
which reads the contents of every archive on it anew, Spark's own jar with thousands of files among them, and collects
garbage, which looks at every object of every module. With short tasks both cost more than the tasks. Nothing here needs
Spark.
"""

from __future__ import annotations

import gc
import sys
import zipimport


def settle_in() -> None:
    """Keep the contents of archives on the path, and what was imported out of the sight of the garbage collector.

    It is called first of all by what runs in a task. The archives of a session do not change while it runs.
    """
    for path, importer in sys.path_importer_cache.items():
        if isinstance(importer, zipimport.zipimporter):
            sys.path_importer_cache[path] = None  # made again, from contents that are known, when it is asked
    gc.freeze()
