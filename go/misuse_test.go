//go:build race

package plimsoll_test

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Two goroutines that use one worker at once are seen by the race detector, in a process that may fail.
func TestTheRaceDetectorSeesTwoGoroutinesOnOneWorker(t *testing.T) {
	const misuse = "PLIMSOLL_TEST_MISUSE"
	if os.Getenv(misuse) != "" {
		worker := working(t, opened(t, "name: api\n", nil))
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				for range 100 {
					// No host, so that nothing but the detector minds.
					worker.Refresh()
				}
			})
		}
		group.Wait()
		return
	}
	command := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	command.Env = append(os.Environ(), misuse+"=1")
	output, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "DATA RACE") {
		t.Errorf("%v\n%s", err, output)
	}
}
