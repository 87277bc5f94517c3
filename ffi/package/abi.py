#!/usr/bin/env python3
"""The interface of the C library, compared with a baseline by libabigail.

    ffi/package/abi.py check    what differs from ffi/abi/plimsoll.abi
    ffi/package/abi.py bless    writes that file anew

What is compared is the header: every function that it declares gets an empty body, and a C compiler
makes a library with debug information of them. That is the interface as C programs see it, without
the engine behind the opaque handles, whose types in Rust change all the time; that the header is
what the sources say, and the structs are what Rust has, is for ffi/tests/ to check. Macros leave no
trace in debug information, so each becomes the argument of a function of its own.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "include/plimsoll/plimsoll.h"
BASELINE = ROOT / "ffi/abi/plimsoll.abi"

# What a new version of a series is free to do.
TELLING = re.compile(r"PLIMSOLL_VERSION_|PLIMSOLL_ABI_VERSION")


def stubs(header):
    """A C source that defines what the header declares."""
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    constants = [name for name in re.findall(r"^#define (PLIMSOLL_\w+) \(?-?\d\w*\)?$", code, re.M)
                 if not TELLING.match(name)]
    functions = re.findall(r"^(?:PLIMSOLL_MUST_USE\s+)?[\w *]+?\bplimsoll_\w+\([^;{]*?\);", code, re.M)
    assert len(functions) > 20 and len(constants) > 20, "the header was not understood"
    bodies = [re.sub(r"^PLIMSOLL_MUST_USE\s+", "", text)[:-1] + " { __builtin_trap(); }"
              for text in functions]
    # A type for each: of two constants in one enumeration libabigail takes one for the other.
    bodies += [f"enum of_{name} {{ THE_{name} = {name} }};\n"
               f"void constant_{name}(enum of_{name} constant) {{ (void)constant; }}"
               for name in constants]
    return "#include <plimsoll/plimsoll.h>\n\n" + "\n".join(bodies) + "\n"


def described(folder):
    """The interface of today, in libabigail's XML."""
    source, library, text = (folder / name for name in ("stubs.c", "libplimsoll.so", "plimsoll.abi"))
    source.write_text(stubs(HEADER.read_text()))
    # In C11, because the newest standard of a compiler may take `bool` for another type; and by its
    # name alone, because the folder would stand in the text.
    subprocess.run(["cc", "-std=c11", "-g", "-gdwarf-4", "-fno-eliminate-unused-debug-types", "-shared",
                    "-fPIC", "-w", "-I", ROOT / "include", "-o", library, source.name], check=True, cwd=folder)
    subprocess.run(["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
                    "--drop-undefined-syms", "--out-file", text, library], check=True)
    return text


def main():
    if sys.argv[1:] not in (["check"], ["bless"]):
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        today = described(Path(folder))
        if sys.argv[1] == "bless":
            BASELINE.parent.mkdir(exist_ok=True)
            BASELINE.write_text(today.read_text())
            return 0
        # --harmless: an enumerator that comes is a change, too.
        command = ["abidiff", "--harmless", "--no-show-locs", str(BASELINE), str(today)]
        result = subprocess.run(command, check=False)
        if result.returncode & 3:
            print(f"failed: {shlex.join(command)}", file=sys.stderr)
        elif result.returncode:
            print("\nThe interface is not the baseline's; docs/abi.md says what may change. "
                  "ffi/package/abi.py bless takes it over.", file=sys.stderr)
        else:
            print("The C interface is that of the baseline.")
        return min(result.returncode, 1)


if __name__ == "__main__":
    sys.exit(main())
