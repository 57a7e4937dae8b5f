// The adapter of iceberg-go: it reads requests of the protocol (docs/protocol.md) on standard input, one JSON line
// each, calls the library, and writes one answer line for each on standard output.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"
)

const module = "github.com/apache/iceberg-go"

type request struct {
	Seq  int64           `json:"seq"`
	Op   string          `json:"op"`
	Args json.RawMessage `json:"args"`
}

type problem struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// unsupported is what an operation returns if the library lacks it.
type unsupported string

func (what unsupported) Error() string { return string(what) }

var operations = map[string]func(json.RawMessage) (any, error){
	"transform":             asked(transform),
	"single-value.encode":   asked(converted(fromValue, toBytes)),
	"single-value.decode":   asked(converted(fromBytes, toValue)),
	"bound.truncate":        asked(boundTruncate),
	"bound.encode":          asked(boundEncode),
	"bound.decode":          asked(converted(fromBytes, toValue)),
	"json-value.encode":     asked(converted(fromBytes, toJSON)),
	"json-value.decode":     asked(converted(fromText, toBytes)),
	"json-value.round-trip": asked(converted(fromText, toJSON)),
	"type.parse":            asked(typeParse),
	"expression.evaluate":   asked(expressionEvaluate),
	"metrics.evaluate":      asked(metricsEvaluate),
	"projection.evaluate":   asked(projectionEvaluate),
	"residual.evaluate":     asked(residualEvaluate),
	"summaries.evaluate":    asked(summariesEvaluate),
	"metadata.read":         asked(metadataRead),
	"metadata.write":        asked(metadataWrite),
	"metadata.upgrade":      asked(metadataUpgrade),
	"schema.evolve":         asked(schemaEvolve),
	"partition-spec.evolve": asked(specEvolve),
	"retention.expire":      asked(retentionExpire),
	"name-mapping.apply":    asked(mappingApply),
	"manifest.read":         asked(manifestRead),
	"manifest.write":        asked(manifestWrite),
	"manifest-list.read":    asked(listRead),
	"manifest-list.write":   asked(listWrite),
	"table.read":            asked(tableRead),
	"scan.plan":             asked(scanPlan),
	"commit.replay":         asked(commitReplay),
	"table.write":           asked(tableWrite),
	"table.change":          asked(tableChange),
	"puffin.read":           asked(puffinRead),
	"puffin.write":          asked(puffinWrite),
	"dv.decode":             asked(dvDecode),
	"dv.encode":             asked(dvEncode),
}

// asked makes an operation from a function that takes its arguments as a struct.
func asked[A any](work func(A) (any, error)) func(json.RawMessage) (any, error) {
	return func(raw json.RawMessage) (any, error) {
		var args A
		if err := json.Unmarshal(raw, &args); err != nil {
			return nil, fmt.Errorf("%w: %w", errArguments, err)
		}
		return work(args)
	}
}

// errArguments is a fault of this program: it does not understand the arguments.
var errArguments = errors.New("arguments")

func answer(asked request) (reply map[string]any) {
	defer func() {
		if fault := recover(); fault != nil {
			reply = map[string]any{"error": problem{"internal", fmt.Sprintf("panic: %v", fault)}}
		}
	}()
	operation, found := operations[asked.Op]
	if !found {
		return map[string]any{"unsupported": "the operation " + asked.Op}
	}
	result, err := operation(asked.Args)
	var missing unsupported
	switch {
	case err == nil:
		return map[string]any{"ok": result}
	case errors.As(err, &missing):
		return map[string]any{"unsupported": missing.Error()}
	case errors.Is(err, iceberg.ErrNotImplemented), errors.Is(err, arrow.ErrNotImplemented):
		return map[string]any{"unsupported": err.Error()}
	case errors.Is(err, errArguments):
		return map[string]any{"error": problem{"internal", err.Error()}}
	}
	return map[string]any{"error": problem{"invalid", err.Error()}}
}

// version is the release of the library that this program was built with.
func version() string {
	if info, found := debug.ReadBuildInfo(); found {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return dependency.Version[1:]
			}
		}
	}
	return "unknown"
}

func start() map[string]any {
	names := make([]string, 0, len(operations))
	for name := range operations {
		names = append(names, name)
	}
	slices.Sort(names)
	return map[string]any{"ok": map[string]any{
		"implementation": "iceberg-go", "version": version(), "language": "go", "protocol": 1,
		"format_versions": []int{1, 2, 3}, "operations": names,
	}}
}

func main() {
	answers := os.Stdout
	os.Stdout = os.Stderr // what the library prints is not an answer
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(answers)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		if err := json.Unmarshal(line, &asked); err != nil {
			fmt.Fprintln(os.Stderr, "not a request:", err)
			os.Exit(1)
		}
		if asked.Op == "stop" {
			return
		}
		reply := start()
		if asked.Op != "start" {
			reply = answer(asked)
		}
		reply["seq"] = asked.Seq
		text, err := json.Marshal(reply)
		if err != nil {
			failed := problem{"internal", "the answer is not JSON: " + err.Error()}
			text, _ = json.Marshal(map[string]any{"seq": asked.Seq, "error": failed})
		}
		_, _ = out.Write(append(text, '\n'))
		_ = out.Flush()
	}
}
