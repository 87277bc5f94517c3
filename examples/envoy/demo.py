#!/usr/bin/env python3
"""Three zones behind a real Envoy, the nearest of which is too small for the load: first with Envoy's own
load_aware_locality, then with Plimsoll's as a module in the same binary.

    python3 examples/envoy/demo.py ENVOY MODULE_DIR PROGRAMS

ENVOY is a binary of Envoy 1.40.0 (adapters/envoy/fetch), MODULE_DIR holds libplimsoll_envoy.so, and
PROGRAMS holds `origin` and `load` of ffi/examples. `make demo-envoy` has them all. The two cluster
files are those beside this one, with free ports. Zone a has one origin of five; each takes 1200
requests a second and answers after 20 ms, so that 64 connections are about 3100 requests a second.

How traffic divides over time depends on the machine. Checked is that no request fails, that zone a
gets something and not everything, and that with Plimsoll its share stays within 30 points after five
seconds, where that of Envoy's policy swings.

Exit status: 0 if so, 1 otherwise.
"""

import http.client
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ("a1", "b1", "b2", "c1", "c2")
CAPACITY = 1200
DELAY_MS = 20
SECONDS = 9
SETTLED_MS = 5000
ENOUGH = 300  # requests in a slice, to say something of it: a busy machine may stall
POINTS = 30
LIMIT = 15.0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Stage:
    """An Envoy of one of the files, and its origins."""

    def __init__(self, file, envoy, modules, programs):
        self.programs = programs
        self.processes = []
        self.directory = tempfile.TemporaryDirectory(prefix="plimsoll-demo-")
        try:
            text = (HERE / file).read_text()
            for index, name in enumerate(NAMES, 1):
                text = text.replace(f" {18080 + index} ", f" {self.start_origin(name)} ")
            self.front, self.admin = free_port(), free_port()
            text = text.replace(" 10000 ", f" {self.front} ").replace(" 9901 ", f" {self.admin} ")
            self.start_envoy(envoy, text, modules)
        except BaseException:
            self.close()
            raise

    def start_origin(self, name):
        command = [os.path.join(self.programs, "origin"), "--listen", "127.0.0.1:0", "--name", name,
                   "--capacity", str(CAPACITY), "--delay-ms", str(DELAY_MS)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        return int(re.search(r"port (\d+)", process.stdout.readline()).group(1))

    def start_envoy(self, envoy, text, modules):
        path = pathlib.Path(self.directory.name)
        (path / "envoy.yaml").write_text(text)
        with open(path / "log", "w") as log:
            process = subprocess.Popen(
                [envoy, "-c", str(path / "envoy.yaml"), "--concurrency", "1", "--disable-hot-restart",
                 "--log-level", "error"], stdout=log, stderr=log,
                env={**os.environ, "ENVOY_DYNAMIC_MODULES_SEARCH_PATH": modules})
        self.processes.append(process)
        deadline = time.monotonic() + LIMIT
        while self.page("/ready").strip() != "LIVE":
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"Envoy does not start:\n{(path / 'log').read_text()}")
            time.sleep(0.05)

    def page(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.admin, timeout=LIMIT)
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        except OSError:
            return ""
        finally:
            connection.close()

    def load(self):
        """What the load driver says of its requests."""
        return subprocess.run(
            [os.path.join(self.programs, "load"), "--target", f"127.0.0.1:{self.front}",
             "--connections", "64", "--seconds", str(SECONDS), "--slice-ms", "500"],
            stdout=subprocess.PIPE, text=True, check=True, timeout=SECONDS + 60).stdout

    def close(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(LIMIT)
        self.directory.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def shares(output):
    """The percentage of each zone in each slice with enough requests; an origin's first letter is its zone."""
    slices = {}
    for at, name, count in re.findall(r"^slice ms=(\d+) origin=(\w)\w* count=(\d+)", output, re.M):
        zones = slices.setdefault(int(at), dict.fromkeys("abc", 0))
        zones[name] += int(count)
    whole = {at: zones for at, zones in sorted(slices.items())
             if at < SECONDS * 1000 and sum(zones.values()) >= ENOUGH}
    return {at: [100 * count / sum(zones.values()) for count in zones.values()]
            for at, zones in whole.items()}


def print_side_by_side(ours, stock):
    print(f"\n  {'':5}  {'Plimsoll, native':^22}   {'Envoy':^22}")
    print(f"  {'ms':>5}" + 2 * (" " + "".join(f"  {zone:>6}" for zone in "abc")))
    for at in sorted(ours.keys() | stock.keys()):
        cells = [[f"{share:6.2f}" for share in of_zones.get(at, [])] for of_zones in (ours, stock)]
        print(f"  {at:5}  {'  '.join(cells[0]):22}   {'  '.join(cells[1])}")


def spread(of_zones):
    local = [zones[0] for at, zones in of_zones.items() if at >= SETTLED_MS]
    return (min(local), max(local)) if local else (0.0, 100.0)


def print_gauges(stage):
    print("\nWhat Envoy's /stats says of Plimsoll's localities:\n")
    for line in stage.page("/stats?filter=plimsoll.locality").splitlines():
        name, value = line.split(": ")
        kind, zone = re.match(r"plimsoll\.(\w+)\..*\.(\w+)$", name.replace("/", ".")).groups()
        print(f"  {kind:24} {zone}  {int(value):>9}")


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    envoy, modules, programs = sys.argv[1:]
    print("Three zones, five origins for 1200 requests a second each, 3100 requests a second.")
    print("Zone a is the nearest, and too small: one origin of five; % of the answers by zone:")
    with Stage("stock.yaml", envoy, modules, programs) as stage:
        stock_output = stage.load()
    with Stage("envoy.yaml", envoy, modules, programs) as stage:
        our_output = stage.load()
        ours, stock = shares(our_output), shares(stock_output)
        print_side_by_side(ours, stock)
        print_gauges(stage)

    print()
    is_good = True
    for who, of_zones, output in (("Plimsoll", ours, our_output), ("Envoy", stock, stock_output)):
        low, high = spread(of_zones)
        total, failed = re.search(r"^total requests=(\d+) failed=(\d+)", output, re.M).groups()
        is_served = failed == "0" and re.findall(r"^status code=(\d+)", output, re.M) == ["200"]
        is_good &= is_served and 0 < low and high < 100
        print(f"  {who}: zone a gets {low:.1f} to {high:.1f} % from {SETTLED_MS // 1000} s on, "
              f"a spread of {high - low:.1f} points; {total} requests, {failed} failed")
    low, high = spread(ours)
    is_good &= high - low < POINTS
    print("\nAs expected." if is_good else "\nNot as expected.")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
