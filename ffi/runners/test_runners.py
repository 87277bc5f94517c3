#!/usr/bin/env python3
"""Replays give the same bytes in every language.

    ffi/runners/test_runners.py BUILD_DIR [RUNNER...]

BUILD_DIR/bin holds the tool and the runners, those of C and C++ unless told otherwise. Each runner has to print what `plimsoll replay` prints, with
the same exit code, and to stop at the same lines. The last line of the output is "N passed, N failed".
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VECTORS = sorted((ROOT / "tests/vectors").glob("*.jsonl"))
EDGES = ROOT / "tests/edges.jsonl"
MALFORMED = ROOT / "tests/malformed-lines.txt"

# The programs in BUILD_DIR/bin that there are without any other language.
RUNNERS = ["replay-c", "replay-cpp"]

LIMIT = 300  # seconds, for one program; longer than anything here takes


def run(command, *arguments, text=None):
    """Exit code, standard output and standard error."""
    done = subprocess.run([*command, *map(str, arguments)], input=text, capture_output=True,
                          timeout=LIMIT, check=False)
    return done.returncode, done.stdout, done.stderr


def difference(expected, got):
    """The first line in which two outputs differ."""
    lines = zip(expected.split(b"\n") + [b"(end)"], got.split(b"\n") + [b"(end)"])
    for number, (own, other) in enumerate(lines, 1):
        if own != other:
            return f"line {number}: {own[:300]!r} from the tool, {other[:300]!r}"
    return "one has more lines"


def same_as_the_tool(tool, runner, *arguments, text=None):
    expected = run([*tool, "replay"], *arguments, text=text)
    got = run(runner, *arguments, text=text)
    assert got[1] == expected[1], difference(expected[1], got[1])
    assert got[0] == expected[0] and got[2] == expected[2] == b"", (expected, got)


def test_every_vector(tool, runner):
    assert len(VECTORS) > 20, VECTORS
    for vector in VECTORS:
        same_as_the_tool(tool, runner, vector)


def test_the_edges(tool, runner):
    same_as_the_tool(tool, runner, EDGES)


def test_what_standard_input_says(tool, runner):
    same_as_the_tool(tool, runner, "-", text=EDGES.read_bytes())
    # The last line need not have an end.
    same_as_the_tool(tool, runner, "-", text=EDGES.read_bytes().rstrip())


def test_a_check_that_all_is_as_expected(tool, runner):
    code, output, error = run(runner, "--check", "--quiet", *VECTORS)
    assert (code, output, error) == (0, b"", b""), (code, output[:300], error)
    same_as_the_tool(tool, runner, "--check", *VECTORS)


def test_a_check_that_finds_something(tool, runner):
    code, output, _ = run(runner, "--check", "-q", EDGES)
    assert code == 1 and output.count(b": expected ") > 5, (code, output)
    same_as_the_tool(tool, runner, "--check", EDGES)
    same_as_the_tool(tool, runner, "--check", "-q", EDGES, VECTORS[0], EDGES)


def stops(runner, line, name="-"):
    """Runs a line between two that are fine; it stops the run with its place, in one line."""
    text = b'# first\n{"op":"advance","ms":1}\n' + line + b'\n{"op":"advance","ms":1}\n'
    code, output, error = run(runner, name, text=text)
    assert code == 2 and output.count(b"\n") == 1, (line, code, output)
    assert error.startswith(b"-:3: ") and error.count(b"\n") == 1, (line, error)


def test_lines_that_are_no_operations(_, runner):
    rows = [row.split("\t")[0] for row in MALFORMED.read_text().splitlines()
            if "\t" in row and not row.startswith("#")]
    assert len(rows) > 70, rows
    for row in rows:
        stops(runner, row.encode())
    stops(runner, b'{"op":"\xff"}')
    stops(runner, b'{"op":"pick","id":' + b"[" * 100_000)


def test_files_that_cannot_be_read(_, runner):
    for arguments in (["no-such-file.jsonl"], ["--check", EDGES, "no-such-file.jsonl"]):
        code, _, error = run(runner, *arguments)
        assert code == 2 and error.startswith(b"no-such-file.jsonl: "), (code, error)


def test_arguments_that_make_no_sense(_, runner):
    for arguments in ([], ["--quiet", EDGES], [EDGES, EDGES], ["--verbose", EDGES], ["--check"]):
        code, output, error = run(runner, *arguments)
        assert code == 2 and not output and error, (arguments, code)


def test_each_result_comes_before_the_next_line_is_needed(_, runner):
    with subprocess.Popen([*runner, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        for _ in range(100):
            child.stdin.write(b'{"op":"hash","policies":[],"request":{}}\n')
            child.stdin.flush()
            assert child.stdout.readline() == b'{"hash":null}\n'
        child.stdin.close()
        assert child.wait(LIMIT) == 0


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    programs = Path(sys.argv[1]).resolve() / "bin"
    tool = [programs / "plimsoll"]
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    results = []
    for runner in sys.argv[2:] or RUNNERS:
        for name, test in tests:
            begun = time.monotonic()
            try:
                test(tool, [programs / runner])
                results.append(True)
                verdict = f"ok      {runner}: {name[5:].replace('_', ' ')}"
            except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
                results.append(False)
                verdict = f"FAILED  {runner}: {name[5:].replace('_', ' ')}: {error}"
            print(f"{verdict} ({time.monotonic() - begun:.1f} s)", flush=True)
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
