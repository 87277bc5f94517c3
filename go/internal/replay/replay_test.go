package replay

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func replayed(t *testing.T, input string, options Options) (string, int, error) {
	t.Helper()
	var output bytes.Buffer
	options.Name = "-"
	mismatches, err := Run(strings.NewReader(input), &output, options)
	return output.String(), mismatches, err
}

func TestEveryVectorGivesWhatItExpects(t *testing.T) {
	files, err := filepath.Glob("../../../tests/vectors/*.jsonl")
	if err != nil || len(files) < 30 {
		t.Fatalf("there are %d vectors, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			file, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			var output bytes.Buffer
			mismatches, err := Run(file, &output, Options{Name: name, Check: true, Quiet: true})
			if mismatches > 0 || err != nil {
				t.Errorf("%v\n%.2000s", err, output.String())
			}
		})
	}
}

func TestALineThatIsNoOperationStopsTheRunWithItsPlace(t *testing.T) {
	for line, message := range map[string]string{
		`{`:                                   "column",
		`pick`:                                "column 1",
		`{"op":"pick"} {}`:                    "trailing characters at column",
		`{"op":"pick",}`:                      "column",
		`{"op":"pick","n":01}`:                "column",
		`{"op":"pick","n":1e999}`:             "number out of range",
		"{\"op\":\"pick\xff\"}":               "not UTF-8",
		`null`:                                "an operation is a JSON object",
		`[]`:                                  "an operation is a JSON object",
		`{"op":"pick","op":"peek"}`:           `the key "op" appears twice`,
		`{}`:                                  "the key `op` is missing",
		`{"op":1}`:                            "op: expected one of",
		`{"op":"jump"}`:                       "op: expected one of",
		`{"op":"pick","cluster":1}`:           "cluster: expected a string",
		`{"op":"pick","count":1}`:             "pick.count: unknown field",
		`{"op":"pick","draw":1}`:              "pick.draw: only explain has this key",
		`{"op":"pick","n":null}`:              "pick.n: expected an integer",
		`{"op":"pick","n":1.0}`:               "pick.n: expected an integer",
		`{"op":"pick","n":-1}`:                "pick.n: expected an integer",
		`{"op":"pick","hold":1}`:              "pick.hold: expected true or false",
		`{"op":"pick","reject":"a"}`:          "pick.reject: expected a list of strings",
		`{"op":"pick","hash":true}`:           "pick.hash: expected a 64-bit integer or a list",
		`{"op":"open"}`:                       "open.config: it is missing",
		`{"op":"open","config":{},"extra":1}`: "open.extra: unknown field",
		`{"op":"open","config":{},"node":{"id":"n"}}`:                    "open.node.id: unknown field",
		`{"op":"open","config":{},"node":{"locality":{"rack":"r"}}}`:     "open.node.locality.rack: unknown field",
		`{"op":"open","config":{},"behavior":"Envoy"}`:                   "open.behavior: expected one of",
		`{"op":"health","hosts":{"a":"sick"}}`:                           "health.hosts: expected a map",
		`{"op":"load","hosts":{"a":{"active":1,"idle":1}}}`:              "load.hosts: expected a map",
		`{"op":"draws","values":["007"]}`:                                "draws.values: expected a list of integers",
		`{"op":"draws","values":[18446744073709551616]}`:                 "draws.values: expected a list of integers",
		`{"op":"show","what":"hosts","source":"all"}`:                    "only localities and table have this key",
		`{"op":"tally","worker":"some"}`:                                 `tally.worker: expected a worker's index or "all"`,
		`{"op":"hash","policies":[],"request":{"path":"/"}}`:             "hash.request.path: unknown field",
		`{"op":"report","host":"a","headers":{"b":{"base64":"","c":1}}}`: "report.headers: expected a map",
	} {
		input := "# first\n\n" + line + "\n" + `{"op":"advance","ms":1}` + "\n"
		output, _, err := replayed(t, input, Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "-:3: ") || !strings.Contains(err.Error(), message) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s gives %v, not %q", line, err, message)
		}
		if output != "" {
			t.Errorf("%s prints %s", line, output)
		}
	}
}

func TestNestingHasAnEnd(t *testing.T) {
	for depth, refused := range map[int]bool{100: false, 200: true, 100_000: true} {
		line := `{"op":"advance","ms":1,"id":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}"
		if _, _, err := replayed(t, line, Options{}); (err != nil) != refused {
			t.Errorf("%d lists inside of each other: %v", depth, err)
		}
	}
}

func TestEscapesOfWholeCharactersAreRead(t *testing.T) {
	value, err := parse([]byte(`"\\ud800 \ud83d\ude00 \u00e4\\"`))
	if err != nil || value != "\\ud800 😀 ä\\" {
		t.Errorf("%q, %v", value, err)
	}
}

func TestResultsBeforeAMalformedLineStay(t *testing.T) {
	output, _, err := replayed(t, "{\"op\":\"advance\",\"ms\":1}\n{\"op\":\"jump\"}\n", Options{})
	const want = `{"error":{"code":"invalid_argument","field":"cluster","message":"no cluster is open"}}` + "\n"
	if output != want || err == nil || !strings.HasPrefix(err.Error(), "-:2: ") {
		t.Errorf("%v, after %s", err, output)
	}
}

func TestMismatchesAreShownAndCounted(t *testing.T) {
	const input = `{"op":"advance","ms":1,"id":{"b":1,"a":[1.50,"\u00fc\u0001/"]},"expect":"*"}
{"op":"advance","ms":1,"expect":{"code":"unknown_host"}}`
	const result = `{"error":{"code":"invalid_argument","field":"cluster","message":"no cluster is open"}}` + "\n"
	const mismatch = `-:2: expected {"code":"unknown_host"} got {"code":"invalid_argument","field":"cluster",` +
		`"message":"no cluster is open"}` + "\n"
	for _, test := range []struct {
		options    Options
		output     string
		mismatches int
	}{
		{Options{}, `{"id":{"b":1,"a":[1.5,"ü\u0001/"]},` + result[1:] + result, 0},
		{Options{Check: true}, `{"id":{"b":1,"a":[1.5,"ü\u0001/"]},` + result[1:] + result + mismatch, 1},
		{Options{Check: true, Quiet: true}, mismatch, 1},
	} {
		output, mismatches, err := replayed(t, input, test.options)
		if output != test.output || mismatches != test.mismatches || err != nil {
			t.Errorf("%+v: %d, %v\n%s", test.options, mismatches, err, output)
		}
	}
}

func TestNumbersHaveTheFormOfResults(t *testing.T) {
	for from, want := range map[string]string{
		"1": "1", "-1": "-1", "1.0": "1.0", "1e0": "1.0", "0.1": "0.1", "-0": "-0.0", "-0.0": "-0.0",
		"33.333333333333336": "33.333333333333336", "1e-4": "0.0001", "1.5e-5": "0.000015",
		"1e-5": "0.00001", "9.9e-6": "9.9e-6", "1e-7": "1e-7", "5e-324": "5e-324",
		"9.99e15": "9990000000000000.0", "1e16": "1e16", "12345678901234568.0": "1.2345678901234568e16",
		"18446744073709551615": "18446744073709551615", "18446744073709551616": "1.8446744073709552e19",
		"-9223372036854775808": "-9223372036854775808",
	} {
		value, err := parse([]byte(from))
		if err != nil || text(value) != want {
			t.Errorf("%s is %s, %v", from, text(value), err)
		}
	}
}

func TestExpectations(t *testing.T) {
	for _, test := range []struct {
		expected, got string
		match         bool
	}{
		{"null", "null", true}, {"null", "false", false}, {`"a"`, `"A"`, false}, {`"5"`, "5", false},
		{"[]", "{}", false}, {"{}", `{"a":1}`, true}, {`{"a":1}`, `{"b":1}`, false},
		{`{"a":null}`, "{}", false}, {`[{"a":1},{}]`, `[{"a":1,"b":2},{"c":3}]`, true},
		{"[1,2]", "[2,1]", false}, {"[1,2]", "[1]", false}, {"1", "true", false}, {"true", "1", false},
		{"1", "1.0", true}, {"0", "-0.0", true}, {"1.5", "1", false}, {"-1", "1", false}, {"1e300", "1e300", true},
		{"1e300", "18446744073709551615", false}, {"18446744073709551615", "18446744073709551614", false},
		{"18446744073709551615", "18446744073709551616.0", false},
		{"9007199254740993", "9007199254740992.0", false}, {"9007199254740992", "9007199254740992.0", true},
		{`{"approx":18446744073709551615,"within":0}`, "18446744073709551614", false},
		{`{"approx":18446744073709551615,"within":1}`, "18446744073709551614", true},
		{`{"approx":10,"within":2}`, "8", true}, {`{"approx":10,"within":2}`, "12.000001", false},
		{`{"approx":10,"within":2}`, `"10"`, false}, {`{"approx":0.1,"within":0.0}`, "0.1", true},
		{`{"approx":1,"within":-1}`, "1", false}, {`{"approx":1}`, `{"approx":1}`, true}, {`{"approx":1}`, "1", false},
		{`{"one_of":[1,"a",{"approx":10,"within":1}]}`, "11", true}, {`{"one_of":[]}`, "1", false},
		{`{"one_of":1}`, `{"one_of":1}`, true}, {`"*"`, `{"a":[]}`, true}, {`{"a":"*"}`, "{}", false},
		{`["*"]`, "[]", false}, {`"**"`, `"a"`, false},
	} {
		expected, _ := parse([]byte(test.expected))
		got, _ := parse([]byte(test.got))
		if matches(expected, got) != test.match {
			t.Errorf("expected %s, got %s: not %v", test.expected, test.got, test.match)
		}
	}
}

func TestAnOperationThatFailsHasNoEffect(t *testing.T) {
	const input = `{"op":"open","config":{"name":"c"},"workers":2}
{"op":"open","config":{"name":"d","lb_policy":"WHAT"}}
{"op":"open","config":{"name":"d"},"workers":1025}
{"op":"open","config":{"name":"d"},"now_ms":18446744073709551615}
{"op":"open","config":{"name":"d"},"runtime":{"a":"x"}}
{"op":"open","config":{"name":"d"},"local_cluster":"nowhere"}
{"op":"reconfigure","config":{"name":"c","load_assignment":{"cluster_name":"c"}}}
{"op":"worker","worker":1,"action":"close"}
{"op":"worker","worker":1,"action":"close"}
{"op":"worker","worker":2,"action":"open"}
{"op":"worker","worker":0,"action":"open"}
{"op":"tally","worker":"all","n":3}
{"op":"done","hosts":["10.0.0.1:80"]}
{"op":"pick","metadata":{}}
{"op":"peek","hold":true}
{"op":"explain","n":2}
{"op":"show","what":"loads","cluster":"d"}
`
	want := []string{
		`{"ok":true}`, `"field":"lb_policy"`, `"field":"workers"`, `"field":"now_ms"`, `"field":"runtime.a"`,
		`no cluster \"nowhere\" is open`, `"field":"load_assignment"`, `{"ok":true}`, `worker 1 is closed`,
		`there is no worker 2 of 2`, `worker 0 is open`, `{"tally":{"none":3}}`, `the cluster has no host 10.0.0.1:80`,
		`matching metadata is not supported`, `only picks can be held`, `one pick is explained at a time`,
		`no cluster \"d\" is open`,
	}
	output, _, err := replayed(t, input, Options{})
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if err != nil || len(lines) != len(want) {
		t.Fatalf("%v, after %d results of %d", err, len(lines), len(want))
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) {
			t.Errorf("line %d gives %s, not %s", i+1, line, want[i])
		}
	}
}
