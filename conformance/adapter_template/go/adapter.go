// An adapter that hashes int, long and string with the Murmur3 below. README.md beside it describes what comes next.
//
//	go build -o adapter adapter.go
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
)

// murmur3 is the 32-bit Murmur3 of the x86 variant, seed 0.
func murmur3(data []byte) int32 {
	mixed := func(word uint32) uint32 { return bits.RotateLeft32(word*0xCC9E2D51, 15) * 0x1B873593 }
	state, length := uint32(0), uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		state = bits.RotateLeft32(state^mixed(binary.LittleEndian.Uint32(data)), 13)*5 + 0xE6546B64
	}
	tail := make([]byte, 4)
	copy(tail, data)
	state ^= mixed(binary.LittleEndian.Uint32(tail)) ^ length
	state = (state ^ state>>16) * 0x85EBCA6B
	state = (state ^ state>>13) * 0xC2B2AE35
	return int32(state ^ state>>16)
}

type answer = map[string]any

func invalid(value any, typ string) answer {
	return answer{"error": answer{"kind": "invalid", "message": fmt.Sprintf("%v is no %s", value, typ)}}
}

// hash answers one request for a hash.
func hash(typ string, value any) answer {
	switch text, isText := value.(string); typ {
	case "string":
		if isText {
			return answer{"ok": murmur3([]byte(text))}
		}
	case "int", "long":
		size := map[string]int{"int": 32, "long": 64}[typ]
		if number, isNumber := value.(json.Number); isNumber {
			text = number.String()
		}
		if whole, err := strconv.ParseInt(text, 10, size); err == nil && !strings.HasPrefix(text, "+") {
			return answer{"ok": murmur3(binary.LittleEndian.AppendUint64(nil, uint64(whole)))}
		}
	default:
		return answer{"unsupported": "hashing " + typ}
	}
	return invalid(value, typ)
}

func main() {
	requests := json.NewDecoder(bufio.NewReader(os.Stdin))
	requests.UseNumber() // a long is more than a float64 holds
	answers := json.NewEncoder(os.Stdout)
	for {
		var request struct {
			Seq  int64
			Op   string
			Args struct {
				Type  any
				Value any
			}
		}
		if err := requests.Decode(&request); err != nil || request.Op == "stop" {
			return
		}
		typ, ok := request.Args.Type.(string)
		reply := answer{"unsupported": "nested types"}
		switch {
		case request.Op == "start":
			reply = answer{"ok": answer{
				"implementation": "@NAME@", "version": "0.0", "language": "go", "protocol": 1,
				"format_versions": []int{1, 2, 3}, "operations": []string{"hash"},
			}}
		case request.Op != "hash":
			reply = answer{"unsupported": "the operation " + request.Op}
		case ok:
			reply = hash(typ, request.Args.Value)
		}
		reply["seq"] = request.Seq
		if err := answers.Encode(reply); err != nil {
			os.Exit(1)
		}
	}
}
