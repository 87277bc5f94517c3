#!/usr/bin/env python3
"""An end-to-end test of the module in a real Envoy, on the loopback interface.

    python3 adapters/envoy/tests/test_envoy.py ENVOY MODULE_DIR LOAD [WORD...]

ENVOY is the binary (adapters/envoy/fetch prints one), MODULE_DIR holds libplimsoll_envoy.so, LOAD is
the load driver of ffi/examples. With WORDs only tests whose names contain one run. The last line of
the output is "N passed, N failed"; the exit status is 0 if none failed.
"""

import sys
import time
import traceback

sys.dont_write_bytecode = True  # no __pycache__ among the sources

from envoy_tests import churn, hashing, health, nesting, refusals, reports, rig, serving  # noqa: E402

MODULES = (serving, reports, health, hashing, nesting, refusals, churn)


def run(name, test):
    """True if the test passed."""
    title = name[len("test_"):].replace("_", " ")
    begun = time.monotonic()
    try:
        test()
    except Exception as error:  # one test's failure does not keep the others from running
        print(f"FAILED  {title}: {error or type(error).__name__}")
        traceback.print_exc(limit=-3, file=sys.stdout)
        return False
    print(f"ok      {title} ({time.monotonic() - begun:.1f} s)", flush=True)
    return True


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    rig.ENVOY, rig.MODULE, rig.LOAD = sys.argv[1:4]
    words = sys.argv[4:] or [""]
    tests = [(name, test) for module in MODULES for name, test in vars(module).items()
             if name.startswith("test_") and any(word in name for word in words)]
    results = [run(name, test) for name, test in tests]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
