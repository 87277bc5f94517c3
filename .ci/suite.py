"""Runs end-to-end tests: functions whose names begin with `test_`, each of which raises if it fails."""

import sys
import time
import traceback


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


def run_all(modules, words):
    """Runs the tests of the modules, or those whose names contain one of the words. Returns the exit
    status; no test at all is a failure."""
    tests = [(name, test) for module in modules for name, test in vars(module).items()
             if name.startswith("test_") and any(word in name for word in words or [""])]
    results = [run(name, test) for name, test in tests]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1
