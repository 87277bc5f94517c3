#!/usr/bin/env python3
"""Tests of the C library as it is shipped, not as cargo builds it.

    python3 ffi/package/test_package.py BUILD_DIR [WORD]

BUILD_DIR holds what `.ci/package` builds; with WORD only tests whose names contain it run.
The last line of the output is "N passed, N failed, N skipped"; the exit status is 0 if none failed.
"""

import sys
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ among the sources

from package_tests import (  # noqa: E402
    cmake, elf, installing, memory, names, pages, pkgconfig, proxy, rig, second_rust, versions,
)

MODULES = (elf, names, versions, installing, pkgconfig, cmake, pages, proxy, memory, second_rust)


def run(name, test):
    """What became of a test: `ok`, `FAILED` or `skipped`."""
    title = name[len("test_"):].replace("_", " ")
    begun = time.monotonic()
    try:
        test()
    except rig.Skipped as reason:
        print(f"skipped {title}: {reason}")
        return "skipped"
    except Exception as error:  # one test's failure does not keep the others from running
        print(f"FAILED  {title}: {error or type(error).__name__}")
        traceback.print_exc(limit=-3, file=sys.stdout)
        return "FAILED"
    print(f"ok      {title} ({time.monotonic() - begun:.1f} s)", flush=True)
    return "ok"


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    word = sys.argv[2] if len(sys.argv) == 3 else ""
    tests = [(name, test) for module in MODULES for name, test in vars(module).items()
             if name.startswith("test_") and word in name]
    with rig.prepared(Path(sys.argv[1]).resolve()):
        results = [run(name, test) for name, test in tests]
    print(f"{results.count('ok')} passed, {results.count('FAILED')} failed, "
          f"{results.count('skipped')} skipped")
    return 0 if results and "FAILED" not in results else 1


if __name__ == "__main__":
    sys.exit(main())
