"""The entry point of the tools: run a main function, and end quietly when the reader of the output has closed it.

A tool calls `run_main` if its main function parses the arguments with argparse, and `run_without_parser` otherwise.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from typing import Any, NoReturn

OUTPUT_CLOSED = 141
"""The exit status of a program that SIGPIPE ended, as shells report it: not 0, as a part of the output is missing."""


def run_main(main: Callable[..., int | None], *arguments: Any) -> NoReturn:
    """Run a tool, and exit with its status; `python -m tools.words | head` must not end with a traceback."""
    try:
        status = main(*arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        if not _is_output_closed():
            raise  # a pipe to a worker process, which is an error of the tool
        # The interpreter must not fail again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = OUTPUT_CLOSED
    sys.exit(status)


def run_without_parser(main: Callable[..., int | None], *arguments: Any) -> NoReturn:
    """Run a tool that has no parser of arguments, and exit with its status; `--help` only prints its description."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        run_main(print, (sys.modules["__main__"].__doc__ or "").strip())
    run_main(main, *arguments)


def _is_output_closed() -> bool:
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))
