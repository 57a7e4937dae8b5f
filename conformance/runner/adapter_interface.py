"""The interface of an adapter, for the runner, whether it runs in this process or another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias

from attrs import field, frozen

from conformance.adapter_sdk.serve import Operation, describe, perform
from conformance.core.json_text import dump_json, parse_json, shorten
from conformance.operations.protocol import (
    Answer,
    Crashed,
    Ok,
    Refused,
    StartAnswer,
    Unsupported,
    read_started,
    request_line,
)


@frozen
class Request:
    """One request: an operation and its arguments, without the expected answer of the vector."""

    op: str
    args: dict[str, Any] = field(hash=False)


Trace: TypeAlias = Callable[[str, bytes], None]
"""Takes the direction and the text of each line: ``->`` to the adapter, ``<-`` from it."""


class Adapter(Protocol):
    """An implementation under test. A context manager: leaving it stops the implementation."""

    name: str

    def start(self) -> StartAnswer:
        """Start the adapter; return its implementation and version. Raises `NotExamined` if it cannot be started."""

    def ask(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """Yield the answers to the requests, one for each, in order."""

    def stop(self) -> str | None:
        """Stop the adapter; return how it broke the protocol while it stopped, or None."""

    def interrupt(self) -> None:
        """Unblock a thread that waits for an answer; the answer is then meaningless."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class InProcess:
    """An adapter that is called in this process: the reference, or functions of a caller of the Python API."""

    def __init__(
        self,
        name: str,
        implementation: Mapping[str, Any],
        operations: Mapping[str, Operation],
        refusals: tuple[type[Exception], ...] = (),
        trace: Trace | None = None,
        *,
        checks_json: bool = False,
    ) -> None:
        """Make the adapter.

        Args:
            name: its name.
            implementation: the members of its answer to ``start``.
            operations: the operations by name.
            refusals: exceptions that mean that the implementation refused the input.
            trace: gets each line that a process would exchange.
            checks_json: whether an answer that is not JSON counts as a crash, as it would in a separate process. The
                answers of the reference are always JSON, so that encoding them would only take time.
        """
        self.name = name
        self._checks_json = checks_json
        self._refusals = refusals
        self._implementation = implementation
        self._operations = operations
        self._trace = trace

    def start(self) -> StartAnswer:
        return read_started(Ok(describe(self._implementation, self._operations)))

    def ask(self, requests: Iterable[Request]) -> Iterator[Answer]:
        for seq, request in enumerate(requests, 1):
            answer = perform(self._operations, request.op, request.args, self._refusals)
            if self._checks_json:
                try:
                    answer = parse_json(dump_json(answer).encode())
                except (TypeError, ValueError, RecursionError) as error:
                    yield Crashed(f"the answer is not JSON: {shorten(str(error))}")
                    continue
            if self._trace is not None:
                self._trace("->", request_line(seq, request.op, request.args))
                self._trace("<-", dump_json({"seq": seq, **answer}).encode() + b"\n")
            match answer:
                case {"ok": value}:
                    yield Ok(value)
                case {"error": {"kind": kind, "message": message}}:
                    yield Refused(kind, message)
                case _:
                    yield Unsupported(answer["unsupported"])

    def stop(self) -> str | None:
        return None

    def interrupt(self) -> None:
        """Do nothing: requests are answered in the calling thread."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
