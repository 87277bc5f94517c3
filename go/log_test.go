package plimsoll_test

import (
	"log/slog"
	"strings"
	"testing"

	"plimsoll.example/plimsoll"
)

func TestALoggerHearsWhatItsLevelLetsThrough(t *testing.T) {
	for level, want := range map[slog.Level][2]bool{
		slog.LevelDebug: {true, true}, slog.LevelWarn: {true, false}, slog.LevelError + 1: {false, false},
	} {
		heard := &lines{}
		logger := slog.New(slog.NewTextHandler(heard, &slog.HandlerOptions{Level: level}))
		cluster := opened(t, configured("ROUND_ROBIN", 2), &plimsoll.Options{Logger: logger})
		must[plimsoll.Applied](t)(cluster.Update(plimsoll.LearnHealth(host(1), plimsoll.HealthEject),
			plimsoll.LearnHealth(host(2), plimsoll.HealthEject)))
		warned := strings.Contains(heard.String(), "level=WARN")
		debugged := strings.Contains(heard.String(), "level=DEBUG")
		if warned != want[0] || debugged != want[1] {
			t.Errorf("at %v it says\n%s", level, heard)
		}
		ok(t, cluster.Close())
	}
}

func TestALoggerMayCallAnything(t *testing.T) {
	heard := &lines{}
	var cluster *plimsoll.Cluster
	handler := slog.NewTextHandler(heard, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, attribute slog.Attr) slog.Attr {
			if cluster != nil {
				cluster.Hosts()
				cluster.Stats()
			}
			return attribute
		},
	})
	cluster = opened(t, configured("ROUND_ROBIN", 2), &plimsoll.Options{Logger: slog.New(handler)})
	must[plimsoll.Applied](t)(cluster.Update(plimsoll.Remove(host(1))))
	if !strings.Contains(heard.String(), "level=DEBUG") {
		t.Errorf("it says\n%s", heard)
	}
}
