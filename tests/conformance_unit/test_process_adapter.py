"""Adapter processes: whatever a process does, each request gets one answer, and the run continues."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from miniature import HANGS, SLOW

from conformance.core.failures import NotExamined
from conformance.operations.protocol import Answer, Crashed, Ok, Refused, Unsupported
from conformance.runner.adapter_interface import Request
from conformance.runner.pipes import MAX_STDERR_BYTES
from conformance.runner.process import AdapterLimits, Process

Miniature = Callable[..., Process]


ENOUGH = 1.5
"""The seconds within which a miniature answers if it answers at all, even on a busy machine."""


def types(count: int) -> list[str]:
    return [f"fixed[{n}]" for n in range(1, count + 1)]


def ask(process: Process, count: int = 10) -> list[Answer]:
    process.start()
    return list(process.ask(Request("type.parse", {"type": text}) for text in types(count)))


def right(count: int = 10) -> list[Answer]:
    return [Ok(text) for text in types(count)]


def test_answers_come_in_the_order_of_the_requests(miniature: Miniature) -> None:
    assert ask(miniature("good"), 1000) == right(1000)


@pytest.mark.parametrize("max_in_flight", [1, 2, 64])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("dies", "exited with status 3"),
        ("killed", "was killed by SIGSEGV"),
        ("garbage", "wrote a line that is not JSON"),
        ("dies-in-a-line", "exited with status 0 in the middle of a line, after 8 bytes of it"),
        ("duplicate-key", 'duplicate key "ok"'),
        ("not-a-number", "wrote a line that is not JSON"),
        ("surrogate", "wrote a line that is not JSON"),
        ("infinite", "the answer has a number beyond the range of doubles"),
        ("no-answer-key", "an answer has one of ok, error and unsupported"),
    ],
)
def test_only_the_request_that_takes_the_process_down_crashes(
    miniature: Miniature, name: str, reason: str, max_in_flight: int
) -> None:
    answers = ask(miniature(name, max_in_flight=max_in_flight))
    crashed = answers.pop(6)
    assert isinstance(crashed, Crashed)
    assert reason in crashed.reason
    assert answers == [answer for index, answer in enumerate(right()) if index != 6]


def test_a_hung_process_is_killed_when_its_time_is_over(miniature: Miniature) -> None:
    began = time.monotonic()
    answers = ask(miniature("hangs", request=ENOUGH))
    assert answers[6] == Crashed(f"no answer within {ENOUGH:g} s")
    assert answers[:6] + answers[7:] == right()[:6] + right()[7:]
    assert time.monotonic() - began < HANGS / 2


def test_the_time_limit_of_a_request_starts_when_it_is_the_oldest(miniature: Miniature) -> None:
    began = time.monotonic()
    assert ask(miniature("slow", request=ENOUGH), 5) == right(5)  # the last one takes longer than its limit
    assert time.monotonic() - began >= 5 * SLOW > ENOUGH


def test_whoever_takes_the_answers_slowly_takes_none_of_the_adapters_time(miniature: Miniature) -> None:
    process = miniature(
        "good", request=ENOUGH, max_in_flight=1
    )  # the second request is sent when the first has been read
    process.start()
    answers = process.ask(Request("type.parse", {"type": text}) for text in types(2))
    assert next(answers) == right()[0]
    time.sleep(ENOUGH * 1.2)
    assert next(answers) == right()[1]


def test_a_line_beyond_the_limit_is_a_crash(miniature: Miniature) -> None:
    crashed = ask(miniature("huge-line"))[6]
    assert isinstance(crashed, Crashed)
    assert "a line of more than 16777216 bytes" in crashed.reason


def test_a_wrong_seq_is_never_taken_as_the_answer_to_another_request(miniature: Miniature) -> None:
    answers = ask(miniature("wrong-seq", max_consecutive_crashes=3), 5)
    assert answers[0] == Crashed("it answered request 2, expected the answer to request 1")
    assert all(isinstance(answer, Crashed) for answer in answers)
    assert "3 crashes in a row" in str(answers[4])


def test_a_second_answer_is_a_breach_and_spoils_no_other_answer(miniature: Miniature) -> None:
    answers = ask(miniature("twice"))
    assert answers[7] == Crashed("it answered request 7 again, expected the answer to request 8")
    del answers[7]
    assert answers == right()[:7] + right()[8:]


def test_an_adapter_that_dies_on_everything_is_given_up_and_every_request_is_answered(miniature: Miniature) -> None:
    answers = ask(miniature("always-dies", max_consecutive_crashes=3), 50)
    assert len(answers) == 50
    assert all(isinstance(answer, Crashed) for answer in answers)
    last = answers[-1]
    assert isinstance(last, Crashed)
    assert last.reason == "request not sent: 3 crashes in a row, the last: exited with status 3"
    assert last.stderr == "last words\n"


def test_an_adapter_that_does_not_start_again_is_given_up(miniature: Miniature) -> None:
    answers = ask(miniature("starts-once", starts=2))
    assert answers[:6] == right()[:6]
    assert "exited with status 3" in str(answers[6])
    assert all(
        "does not start again: exited with status 1; it wrote: cannot start twice" in str(a) for a in answers[7:]
    )
    assert len(answers) == 10


def test_the_end_of_standard_error_is_kept_as_evidence(miniature: Miniature) -> None:
    crashed = ask(miniature("dies"))[6]
    assert isinstance(crashed, Crashed)
    assert crashed.stderr == "last words\n"


def test_a_flood_of_standard_error_neither_blocks_nor_grows(miniature: Miniature) -> None:
    process = miniature("floods")
    assert ask(process) == right()
    assert 0 < len(process.stderr) <= MAX_STDERR_BYTES


def test_an_adapter_that_reads_nothing_does_not_block_the_writer(miniature: Miniature) -> None:
    process = miniature("reads-nothing", request=0.1, max_consecutive_crashes=1)
    process.start()
    answers = list(process.ask(Request("type.parse", {"type": "x" * 1_000_000}) for _ in range(3)))
    assert answers[0] == Crashed("no answer within 0.4 s")
    assert len(answers) == 3


def test_children_of_a_process_that_died_are_killed(miniature: Miniature, marker: Path) -> None:
    process = miniature("orphan", request=0.5)
    process.start()
    answers = process.ask([Request("type.parse", {"type": "fixed[7]"})])
    assert isinstance(next(answers), Crashed)
    child = int(marker.read_text())
    until = time.monotonic() + HANGS / 2
    while _is_running(child):
        assert time.monotonic() < until, "the child of the adapter runs on"
        time.sleep(0.05)


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("refuses-start", "it refused to start: no licence"),
        ("wrong-protocol", "it speaks protocol 2, this tool speaks 1"),
        ("malformed-start", 'the answer to start is invalid: "version" is a required property'),
        ("silent-start", "no answer to start within 0.5 s"),
        ("dies-at-start", "exited with status 1; it wrote: no module named engine"),
    ],
)
def test_what_cannot_be_started_says_why(miniature: Miniature, name: str, reason: str) -> None:
    with pytest.raises(NotExamined) as caught:
        miniature(name, start=0.5 if name == "silent-start" else 120).start()
    assert str(caught.value) == reason


@pytest.mark.parametrize("command", ["/no/such/adapter", "/", "nul\0byte"])
def test_what_is_no_program_says_so(command: str) -> None:
    with pytest.raises(NotExamined, match="cannot be run"):
        Process("none", [command]).start()


def test_start_has_a_time_limit_of_its_own(miniature: Miniature) -> None:
    assert ask(miniature("slow-start", request=ENOUGH)) == right()


def test_refusals_bugs_and_missing_features_are_reported_apart(miniature: Miniature) -> None:
    assert ask(miniature("invalid"))[6] == Refused("invalid")
    assert ask(miniature("internal"))[6] == Refused("internal", "NullPointerException")
    assert ask(miniature("unsupported"))[6] == Unsupported("fixed")


@pytest.mark.parametrize(
    ("name", "breach"),
    [
        ("good", None),
        ("talks-at-stop", "it wrote a line after its last answer"),
        (
            "half-a-line-at-stop",
            "after its last answer it exited with status 9 in the middle of a line, after 5 bytes of it",
        ),
        ("fails-at-stop", None),
    ],
)
def test_the_end_belongs_to_the_protocol(miniature: Miniature, name: str, breach: str | None) -> None:
    process = miniature(name)
    assert ask(process) == right()
    assert process.stop() == breach


def test_leaving_it_ends_the_process(miniature: Miniature) -> None:
    with miniature("good") as process:
        process.start()
        assert process._line is not None
        pid = process._line._process.pid
        assert _is_running(pid)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_request_carries_nothing_but_the_question(miniature: Miniature, marker: Path) -> None:
    process = miniature("liar")
    assert ask(process, 2) == [Ok("string"), Ok("string")]
    process.stop()
    assert marker.read_text().splitlines() == [
        '{"seq":0,"op":"start","args":{"protocol":1}}',
        '{"seq":1,"op":"type.parse","args":{"type":"fixed[1]"}}',
        '{"seq":2,"op":"type.parse","args":{"type":"fixed[2]"}}',
        '{"seq":3,"op":"stop"}',
    ]


def test_limits_are_generous_to_a_virtual_machine() -> None:
    assert AdapterLimits().start >= 60
