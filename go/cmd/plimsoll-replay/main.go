// Plimsoll-replay runs replays on the Go API, as `plimsoll replay` runs them on the engine itself: the
// output is the same, to the byte.
//
//	plimsoll-replay FILE                         print the result of each operation; - is standard input
//	plimsoll-replay -check [-q] FILE...          also compare every "expect"
//
// Exit codes: 0 when all went well, also when operations gave error results; 1 when a result was not
// as expected (-check); 2 when a line is not an operation, a file cannot be read, or an argument is
// wrong.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"syscall"

	"plimsoll.example/plimsoll/internal/replay"
)

func main() {
	check := flag.Bool("check", false, "compare each result with the operation's \"expect\", and print what differs")
	var quiet bool
	for _, name := range []string{"q", "quiet"} {
		flag.BoolVar(&quiet, name, false, "do not print results, only what -check finds")
	}
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: plimsoll-replay [-check [-q]] FILE...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if wrong := usage(flag.NArg(), *check, quiet); wrong != "" {
		fmt.Fprintln(os.Stderr, "plimsoll-replay:", wrong)
		flag.Usage()
		os.Exit(2)
	}
	mismatches := 0
	for _, name := range flag.Args() {
		count, err := run(name, replay.Options{Name: name, Check: *check, Quiet: quiet})
		mismatches += count
		if err != nil {
			// Whoever reads the results may have had enough of them.
			if !errors.Is(err, syscall.EPIPE) {
				fmt.Fprintln(os.Stderr, err)
			}
			os.Exit(2)
		}
	}
	if mismatches > 0 {
		os.Exit(1)
	}
}

// usage is what is wrong with the arguments; empty if nothing is.
func usage(files int, check, quiet bool) string {
	switch {
	case files == 0:
		return "which file?"
	case files > 1 && !check:
		return "several files are only for -check"
	case quiet && !check:
		return "-q is only for -check"
	default:
		return ""
	}
}

func run(name string, options replay.Options) (int, error) {
	var input io.Reader = os.Stdin
	if options.FlushEach = name == "-"; !options.FlushEach {
		file, err := os.Open(name)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, errors.Unwrap(err))
		}
		defer file.Close()
		input = file
	}
	return replay.Run(input, os.Stdout, options)
}
