// Package replay runs replays on the Go API: JSON Lines in, one operation a line; JSON Lines out, one
// result an operation. docs/replay.md is what it does; `plimsoll replay` does the same, and every
// replay gives the same bytes with either.
//
// An operation that fails gives an error result, has no effect, and the file goes on; a line that is
// not an operation at all stops the run.
package replay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Options are how a replay is run.
type Options struct {
	// Name is what messages call the input.
	Name string
	// Check compares results with what the operations expect, and reports mismatches in the output.
	Check bool
	// Quiet leaves results out of the output.
	Quiet bool
	// FlushEach hands each result on before the next line is read, for programs that wait for it.
	FlushEach bool
}

// Run runs a replay to its end, or to the first line that is not an operation, which is the error. It
// gives how many results are not as expected; 0 unless checked.
func Run(input io.Reader, output io.Writer, options Options) (mismatches int, err error) {
	lines, results := bufio.NewReader(input), bufio.NewWriter(output)
	defer func() { err = errors.Join(err, results.Flush()) }()
	session := session{clusters: make(map[string]*cluster)}
	defer session.close()
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && errors.Is(err, io.EOF) {
			return mismatches, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return mismatches, fmt.Errorf("%s: %w", options.Name, err)
		}
		operation, err := parseLine(line)
		if err != nil {
			return mismatches, fmt.Errorf("%s:%d: %w", options.Name, number, err)
		}
		if operation == nil {
			continue
		}
		mismatch, err := session.run(operation, results, options, number)
		if err == nil && options.FlushEach {
			err = results.Flush()
		}
		if err != nil {
			return mismatches, fmt.Errorf("cannot write results: %w", err)
		}
		if mismatch {
			mismatches++
		}
	}
}

// line is an operation with what every operation may carry.
type line struct {
	// Copied into the result, if there is one.
	id    any
	hasID bool
	// Which cluster it is about; nil: the one that was opened last.
	cluster *string
	// What the result should be, if that is said.
	expect    any
	hasExpect bool
	run       operation
}

// parseLine reads a line; nil if it is blank or a comment.
func parseLine(from []byte) (*line, error) {
	if bytes.HasPrefix(from, []byte("#")) || len(bytes.TrimSpace(from)) == 0 {
		return nil, nil
	}
	value, err := parse(bytes.TrimRight(from, " \t\r\n"))
	if err != nil {
		return nil, err
	}
	keys, ok := value.(*object)
	if !ok {
		return nil, errors.New("an operation is a JSON object")
	}
	line := &line{}
	line.id, line.hasID = keys.take("id")
	line.expect, line.hasExpect = keys.take("expect")
	if name, ok := keys.take("cluster"); ok {
		text, ok := name.(string)
		if !ok {
			return nil, fmt.Errorf("cluster: expected a string, got %s", text)
		}
		line.cluster = &text
	}
	op, ok := keys.take("op")
	if !ok {
		return nil, errors.New("the key `op` is missing")
	}
	name, _ := op.(string)
	read, ok := operations[name]
	if !ok {
		return nil, fmt.Errorf("op: expected %s, got %s", words(operations), text(op))
	}
	fields := &fields{path: name, keys: keys, err: &err}
	line.run = read(fields)
	fields.finish()
	return line, err
}

// run runs one operation and writes what came of it. It gives whether that is not as expected.
func (s *session) run(line *line, output *bufio.Writer, options Options, number int) (bool, error) {
	key, payload, err := s.execute(line)
	if err != nil {
		key, payload = "error", asFailure(err).value()
	}
	mismatch := false
	if options.Check && line.hasExpect {
		got := payload
		if written, ok := payload.(raw); ok {
			if got, err = parse([]byte(written)); err != nil {
				return false, err
			}
		}
		mismatch = !matches(line.expect, got)
	}
	if !options.Quiet {
		result := &object{}
		if line.hasID {
			result.add("id", line.id)
		}
		// After an id that is called the same: they are not one key.
		written := appendValue(nil, result)
		if line.hasID {
			written = append(written[:len(written)-1], ',')
		} else {
			written = written[:len(written)-1]
		}
		written = append(appendString(written, key), ':')
		written = append(appendValue(written, payload), "}\n"...)
		if _, err := output.Write(written); err != nil {
			return mismatch, err
		}
	}
	if mismatch {
		_, err := fmt.Fprintf(output, "%s:%d: expected %s got %s\n", options.Name, number,
			text(line.expect), text(payload))
		return true, err
	}
	return false, nil
}
