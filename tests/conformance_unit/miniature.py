"""Miniature adapters: each follows the protocol except in one respect. Run as ``python miniature.py NAME``.

They answer `type.parse` with what they were given, which is right. What they do otherwise, they do when asked for
``fixed[7]``, or at the start.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

TRIGGER = "fixed[7]"
HANGS = 600
"""A time in seconds that exceeds every timeout."""

SLOW = 0.4
"""The seconds that a slow miniature takes for an answer; it takes five times as long to start."""

MARKER = os.environ.get("MINIATURE_MARKER", "")
INFO = {"implementation": "miniature", "version": "1.2.3", "protocol": 1, "operations": ["type.parse"]}


def say(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def raw(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def first_time() -> bool:
    if os.path.exists(MARKER):
        return False
    open(MARKER, "w").close()
    return True


def starts(name: str) -> Any:
    match name:
        case "refuses-start":
            return {"unsupported": "no licence"}
        case "wrong-protocol":
            return {"ok": {**INFO, "protocol": 2}}
        case "malformed-start":
            return {"ok": {"implementation": "miniature", "protocol": 1, "operations": ["type.parse"]}}
        case "silent-start":
            time.sleep(HANGS)
        case "slow-start":
            time.sleep(5 * SLOW)
        case "dies-at-start":
            sys.stderr.write("Traceback: something\nno module named engine\n")
            sys.exit(1)
        case "starts-once":
            if not first_time():
                sys.exit("cannot start twice")
        case "orphan":
            child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({HANGS})"])
            with open(MARKER, "w") as file:
                file.write(str(child.pid))
        case "declares-nothing":
            return {"ok": {**INFO, "operations": []}}
        case "declares-v1":
            return {"ok": {**INFO, "format_versions": [1]}}
    return {"ok": INFO}


def misbehave(name: str, seq: int, asked: object) -> None:
    match name:
        case "dies" | "starts-once" | "always-dies":
            sys.stderr.write("last words\n")
            sys.stderr.flush()
            os._exit(3)
        case "killed":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "hangs":
            time.sleep(HANGS)
        case "garbage":
            raw("INFO starting up\n")
        case "dies-in-a-line":
            raw('{"seq": ')
            os._exit(0)
        case "huge-line":
            raw("x" * (17 * 1024 * 1024))
            time.sleep(HANGS)
        case "duplicate-key":
            raw(f'{{"seq": {seq}, "ok": "int", "ok": "fixed[7]"}}\n')
        case "not-a-number":
            raw(f'{{"seq": {seq}, "ok": NaN}}\n')
        case "surrogate":
            raw(f'{{"seq": {seq}, "ok": "\\ud800"}}\n')
        case "infinite":
            raw(f'{{"seq": {seq}, "ok": {{"type": 1e400}}}}\n')
        case "no-answer-key":
            say({"seq": seq, "result": asked})
        case "twice":
            say({"seq": seq, "ok": asked})
            say({"seq": seq, "ok": asked})
        case "wrong":
            say({"seq": seq, "ok": "fixed[8]"})
        case "wrong-form":
            say({"seq": seq, "ok": 7})
        case "no-type":
            say({"seq": seq, "ok": "fixed[seven]"})
        case "internal":
            say({"seq": seq, "error": {"kind": "internal", "message": "NullPointerException"}})
        case "invalid":
            say({"seq": seq, "error": {"kind": "invalid"}})
        case "unsupported":
            say({"seq": seq, "unsupported": "fixed"})
        case "orphan":
            os._exit(0)


def main(name: str) -> None:
    held: object = None
    for line in sys.stdin:
        if name == "liar":
            with open(MARKER, "a") as log:
                log.write(line)
        request = json.loads(line)
        seq, op = request["seq"], request["op"]
        if op == "start":
            say({"seq": seq, **starts(name)})
            if name == "reads-nothing":
                time.sleep(HANGS)
        elif op == "stop":
            if name == "talks-at-stop":
                say({"seq": seq, "ok": "bye"})
            if name == "half-a-line-at-stop":
                raw("sorry")
            if name.endswith("at-stop"):
                sys.exit(9)
            return
        else:
            asked = request["args"]["type"]
            if name == "floods":
                sys.stderr.write("noise " * 50_000)
            if name == "slow":
                time.sleep(SLOW)
            if name == "waits-for-two" and seq == 1:
                held = {"seq": seq, "ok": asked}
                continue
            if name == "waits-for-two" and seq == 2:
                say(held)
            if name == "liar":
                say({"seq": seq, "ok": "string"})
            elif name == "wrong-seq":
                say({"seq": seq + 1, "ok": asked})
            elif asked == TRIGGER or name == "always-dies":
                misbehave(name, seq, asked)
                if name in ("good", "waits-for-two", "slow-start", "floods", "declares-v1") or name.endswith("at-stop"):
                    say({"seq": seq, "ok": asked})
            else:
                say({"seq": seq, "ok": asked})


if __name__ == "__main__":
    main(sys.argv[1])
