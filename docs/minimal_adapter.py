"""A whole adapter: hashes of int, long and string, with its own Murmur3. See adapters.md."""

import json
import sys


def murmur3(data: bytes) -> int:
    """The 32-bit Murmur3 of the x86 variant, seed 0, as a signed integer."""
    state, mask = 0, 0xFFFFFFFF

    def mixed(word: int) -> int:
        word = word * 0xCC9E2D51 & mask
        return (word << 15 | word >> 17) * 0x1B873593 & mask

    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        state ^= mixed(int.from_bytes(data[at : at + 4], "little"))
        state = ((state << 13 | state >> 19) * 5 + 0xE6546B64) & mask
    state ^= mixed(int.from_bytes(data[whole:], "little")) ^ len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        state = (state ^ state >> shift) * factor & mask
    return state - 2**32 if state >= 2**31 else state


def answer(op: str, args: dict) -> dict:
    """The answer to one request."""
    if op == "start":
        about = {"implementation": "mine", "version": "0.1", "language": "python", "protocol": 1}
        return {"ok": {**about, "format_versions": [1, 2, 3], "operations": ["hash"]}}
    match args["type"], args["value"]:
        case "string", str(text):
            return {"ok": murmur3(text.encode())}
        case ("int" | "long") as type_, (str() | int()) as number:
            bits = 32 if type_ == "int" else 64
            if not -(2 ** (bits - 1)) <= int(number) < 2 ** (bits - 1):
                return {"error": {"kind": "invalid", "message": f"{number} is no {type_}"}}
            return {"ok": murmur3(int(number).to_bytes(8, "little", signed=True))}
        case "string" | "int" | "long", value:
            return {"error": {"kind": "invalid", "message": f"{value!r} is no {args['type']}"}}
    return {"unsupported": f"hashing {args['type']}"}


for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "stop":
        break
    print(json.dumps({"seq": request["seq"], **answer(request["op"], request["args"])}), flush=True)
