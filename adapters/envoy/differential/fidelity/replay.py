"""The prediction: a `plimsoll replay` that is driven line by line, in `behavior: envoy`."""

import json
import subprocess


class Refused(Exception):
    """An operation that failed; it had no effect."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.field, self.message = error["code"], error["field"], error["message"]


class Replay:
    """A running replay."""

    def __init__(self, tool):
        self._process = subprocess.Popen(
            [tool, "replay", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()

    def do(self, op, **keys):
        """Runs one operation and returns what it gives."""
        self._process.stdin.write(json.dumps({"op": op, **keys}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the replay ended at {op} {keys}")
        (kind, payload), = json.loads(line).items()
        if kind == "error":
            raise Refused(payload)
        return payload

    def open(self, config, **keys):
        """Opens a cluster as Envoy balances it."""
        return self.do("open", config=config, behavior="envoy", **keys)

    def hashes(self, policies, requests):
        """What Envoy's hash policies make of requests (each a mapping of headers)."""
        return [self.do("hash", policies=policies, request=request) for request in requests]
