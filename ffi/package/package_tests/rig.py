"""What the tests stand on: the built library, a prefix that it was installed into and that then
moved, and programs that run with a limit on their time."""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HEADER = ROOT / "include/plimsoll/plimsoll.h"
VERSION = re.search(r'^version = "(.*)"', (ROOT / "ffi/Cargo.toml").read_text(), re.M).group(1)
MAJOR, MINOR, PATCH = VERSION.split(".")
# Binaries of one major version may meet: docs/abi.md.
SONAME = f"libplimsoll.so.{MAJOR}"
# The version that the first functions of the series have.
NODE = f"PLIMSOLL_{MAJOR}.0"

LIMIT = 300  # seconds, for one program; longer than anything here takes

# Set by `prepared`.
BUILD = SCRATCH = PREFIX = None


class Skipped(Exception):
    """A test that cannot be run here."""


@contextlib.contextmanager
def prepared(build):
    """Installs the library into a prefix and moves the prefix elsewhere."""
    global BUILD, SCRATCH, PREFIX
    BUILD = build
    with tempfile.TemporaryDirectory(prefix="plimsoll-package-") as folder:
        SCRATCH = Path(folder)
        first = SCRATCH / "first"
        make("install", PREFIX=first)
        PREFIX = SCRATCH / "moved"
        first.rename(PREFIX)
        yield


def make(goal, **variables):
    settings = [f"{name}={value}" for name, value in variables.items()]
    return run("make", "--no-print-directory", "-C", ROOT, goal, f"BUILD={BUILD}", *settings)


def run(*command, env=None, cwd=None, fails=False):
    """Runs a program and gives its output; `fails` if it ought to."""
    result = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cwd,
        env={**os.environ, **(env or {})}, text=True, errors="replace", timeout=LIMIT, check=False,
    )
    line = shlex.join(str(word) for word in command)
    assert (result.returncode != 0) == fails, f"{line}: {result.returncode}\n{result.stdout}"
    return result.stdout


def cc(*arguments):
    """Compiles or links with warnings as errors."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    return run(*compiler, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *arguments)


def pkg_config(*arguments, libdir=None):
    folder = (libdir or PREFIX / "lib") / "pkgconfig"
    return run("pkg-config", *arguments, env={"PKG_CONFIG_PATH": str(folder)}).split()


def need(program):
    if not shutil.which(program):
        raise Skipped(f"there is no {program}")


def blocks(page, language):
    """The code of a page of the documentation, in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


def documented_program(number=0):
    """A C program of docs/c-api.md, as a file, and what it prints. The first opens its cluster from a
    text, the second from structs."""
    source = SCRATCH / f"documented{number}.c"
    source.write_text(blocks("docs/c-api.md", "c")[number])
    return source, blocks("docs/c-api.md", "text")[number]


def folder(name):
    path = SCRATCH / name
    path.mkdir(exist_ok=True)
    return path


def shared():
    return BUILD / "lib" / f"libplimsoll.so.{VERSION}"


def archive():
    return BUILD / "lib/libplimsoll.a"


def nm(path, *options):
    """The symbols of a file as pairs of type and name."""
    lines = run("nm", "--plugin", "/dev/null", *options, path).splitlines()
    return [tuple(line.split()[-2:]) for line in lines if re.search(r" [A-Za-z] \S+$", line)]


def declared():
    """The functions of the header; the same rule as ffi/tests/support has."""
    names = set()
    for item in HEADER.read_text().split("/**")[1:]:
        code = item.partition("*/")[2].partition(");")
        if code[1] and "(" in code[0]:
            names.add(re.split(r"[ *\n]", code[0].partition("(")[0])[-1])
    names = {name for name in names if name.startswith("plimsoll_")}
    assert len(names) > 20, f"the header was not understood: {names}"
    return names
