#!/usr/bin/env python3
"""An end-to-end test of the module in a real Envoy, on the loopback interface.

    python3 adapters/envoy/tests/test_envoy.py ENVOY MODULE_DIR LOAD [WORD...]

ENVOY is the binary (adapters/envoy/fetch prints one), MODULE_DIR holds libplimsoll_envoy.so, LOAD is
the load driver of ffi/examples. With WORDs only tests whose names contain one run. The last line of
the output is "N passed, N failed"; the exit status is 0 if none failed.
"""

import pathlib
import sys

sys.dont_write_bytecode = True  # no __pycache__ among the sources
sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / ".ci"))

import suite  # noqa: E402
from envoy_tests import churn, hashing, health, nesting, refusals, reports, rig, serving  # noqa: E402

MODULES = (serving, reports, health, hashing, nesting, refusals, churn)


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    rig.ENVOY, rig.MODULE, rig.LOAD = sys.argv[1:4]
    return suite.run_all(MODULES, sys.argv[4:])


if __name__ == "__main__":
    sys.exit(main())
