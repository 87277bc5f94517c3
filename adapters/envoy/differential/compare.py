#!/usr/bin/env python3
"""Compares a running Envoy with what `plimsoll replay` predicts.

    compare.py --envoy ENVOY --tool PLIMSOLL [--module FOLDER] [--doc PAGE] [WORD…]

With words only the scenarios whose names contain one of them run, and no page is written.
The exit status is 0 if everything agrees but what is meant to differ.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True  # no __pycache__ among the sources

from fidelity import report, scenarios  # noqa: E402, F401
from fidelity.rig import Rig  # noqa: E402
from fidelity.scenario import ALL  # noqa: E402


def main():
    arguments = _parse()
    chosen = [s for s in ALL if not arguments.word or any(w in s.name for w in arguments.word)]
    if not chosen:
        print("no such scenario; there are:", *(s.name for s in ALL), sep="\n  ")
        return 2
    work = tempfile.mkdtemp(prefix="fidelity-")
    rig = Rig(arguments.envoy, arguments.tool, work, arguments.module)
    for scenario in chosen:
        run(scenario, rig, arguments.verbose)
    if arguments.doc and not arguments.word:
        report.write(arguments.doc, chosen, version(arguments.envoy))
    failed = [s.name for s in chosen if not s.is_as_expected()]
    if failed:
        print(f"not as expected: {', '.join(failed)}; Envoy's files are in {work}")
        return 1
    shutil.rmtree(work)
    print(f"all {len(chosen)} scenarios as expected")
    return 0


def version(envoy):
    """What the binary calls itself: "…  version: COMMIT/1.40.0/Clean/RELEASE/BoringSSL"."""
    said = subprocess.run([envoy, "--version"], capture_output=True, text=True, check=True)
    return said.stdout.split("version: ")[1].split("/")[1]


def run(scenario, rig, verbose):
    """Runs one scenario and prints what came of it.

    Where chance decides, something may be off; what is wrong is off again.
    """
    measure(scenario, rig, verbose)
    if scenario.by_chance and not scenario.is_as_expected():
        print(f"again   {scenario.name}")
        measure(scenario, rig, verbose)


def measure(scenario, rig, verbose):
    """Runs one scenario once and prints what came of it."""
    begun = time.monotonic()
    scenario.rows = []
    try:
        scenario.rows = scenario.run(rig if scenario.module is None else rig.stock_only())
    except Exception:  # the other scenarios still have something to say
        traceback.print_exc()
    word = "ok    " if scenario.is_as_expected() else "FAILED"
    print(f"{word}  {scenario.name}: {len(scenario.rows)} cases, "
          f"{time.monotonic() - begun:.1f} s", flush=True)
    for row in scenario.rows:
        if verbose or not row.is_as_expected():
            seen = "; ".join(f"{column}: {text}" for column, text in row.seen.items())
            print(f"        {row.case}: {seen}; C: {row.predicted}")


def _parse():
    parser = argparse.ArgumentParser(
        description="Compares a running Envoy with what `plimsoll replay` predicts.")
    parser.add_argument("word", nargs="*", help="run only scenarios whose names contain a word")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every case")
    parser.add_argument("--tool", required=True, help="the plimsoll tool")
    parser.add_argument("--envoy", required=True, help="Envoy's binary")
    parser.add_argument("--module", help="the folder with the module; without it no column B")
    parser.add_argument("--doc", help="the page to write")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
