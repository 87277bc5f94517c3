package capi

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What another function here does as well, in one crossing or for Go.
var replaced = map[string]string{
	"plimsoll_error_code":                 "plimsoll_status_name",
	"plimsoll_error_status":               "the status that the call returned",
	"plimsoll_cluster_set_runtime":        "plimsoll_cluster_update_runtime",
	"plimsoll_cluster_set_runtime_bool":   "plimsoll_cluster_update_runtime",
	"plimsoll_cluster_set_runtime_double": "plimsoll_cluster_update_runtime",
}

func TestEveryFunctionOfTheHeaderIsCalled(t *testing.T) {
	header := read(t, "../../../include/plimsoll/plimsoll.h")
	var sources strings.Builder
	files, err := filepath.Glob("*.[gc]*")
	if err != nil {
		t.Fatal(err)
	}
	comment := regexp.MustCompile(`(?m)^\s*//.*$|/\*(?s:.*?)\*/`)
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			sources.WriteString(comment.ReplaceAllString(read(t, file), ""))
		}
	}
	declared := regexp.MustCompile(`(?m)^[a-z][\w ]*[ *](plimsoll_\w+)\(`).FindAllStringSubmatch(header, -1)
	if len(declared) < 40 {
		t.Fatalf("the header declares %d functions: the rule that finds them is too old", len(declared))
	}
	for _, match := range declared {
		name := match[1]
		called := strings.Contains(sources.String(), name+"(")
		if _, ok := replaced[name]; called == ok {
			t.Errorf("%s: called %v, replaced %v", name, called, ok)
		}
	}
}

func TestEveryConstantOfTheHeaderIsThere(t *testing.T) {
	header := read(t, "../../../include/plimsoll/plimsoll.h")
	var sources strings.Builder
	for _, file := range []string{
		"status.go", "numbers.go", "cluster.go", "settings.go", "hash.go", "view.go", "worker.go", "streams.go",
	} {
		sources.WriteString(read(t, file))
	}
	constant := regexp.MustCompile(`(?m)^(?:#define|    )\s*(PLIMSOLL_\w+) (?:= )?-?\d+,?$`)
	found := constant.FindAllStringSubmatch(header, -1)
	if len(found) < 60 {
		t.Fatalf("the header has %d constants: the rule that finds them is too old", len(found))
	}
	for _, match := range found {
		name := match[1]
		if !strings.HasPrefix(name, "PLIMSOLL_VERSION_") &&
			!regexp.MustCompile(`C\.`+name+`\b`).MatchString(sources.String()) {
			t.Errorf("%s is not there", name)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
