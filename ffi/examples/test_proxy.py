#!/usr/bin/env python3
"""An end-to-end test of the example proxy.

    python3 ffi/examples/test_proxy.py BUILD_DIR [WORD]

BUILD_DIR holds the programs `proxy` and `origin`; with WORD only tests whose names contain it run.
PROXY_WRAPPER may hold a command to run the proxy under, "valgrind -q --error-exitcode=9" for one.
The last line of the output is "N passed, N failed"; the exit status is 0 if none failed.
"""

import sys
import time
import traceback

sys.dont_write_bytecode = True  # no __pycache__ among the sources

from proxy_tests import (  # noqa: E402
    admin, framing, hosts, localities, pace, policies, refusals, reports, rig, sessions, upstreams,
)

MODULES = (
    framing, pace, refusals, upstreams, hosts, policies, sessions, reports, localities, admin,
)


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
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    rig.BUILD = sys.argv[1]
    word = sys.argv[2] if len(sys.argv) == 3 else ""
    tests = [(name, test) for module in MODULES for name, test in vars(module).items()
             if name.startswith("test_") and word in name]
    results = [run(name, test) for name, test in tests]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
