#!/usr/bin/env python3
"""An end-to-end test of the example proxy.

    python3 ffi/examples/test_proxy.py BUILD_DIR [WORD]

BUILD_DIR holds the programs `proxy` and `origin`; with WORD only tests whose names contain it run.
PROXY_WRAPPER may hold a command to run the proxy under, "valgrind -q --error-exitcode=9" for one.
The last line of the output is "N passed, N failed"; the exit status is 0 if none failed.
"""

import pathlib
import sys

sys.dont_write_bytecode = True  # no __pycache__ among the sources
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / ".ci"))

import suite  # noqa: E402
from proxy_tests import (  # noqa: E402
    admin, framing, hosts, localities, pace, policies, refusals, reports, rig, sessions, upstreams,
)

MODULES = (
    framing, pace, refusals, upstreams, hosts, policies, sessions, reports, localities, admin,
)


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    rig.BUILD = sys.argv[1]
    return suite.run_all(MODULES, sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
