"""What a scenario is, what it gives, and the list of all of them.

A scenario starts Envoy with some clusters, asks, and compares who answered with what the replay
predicts from the same messages. Its result is a list of rows, one for each case.
"""

from dataclasses import dataclass, field
from typing import Callable

STOCK = "A"
MODULE = "B"


@dataclass
class Row:
    """One case: what each side gave, and whether it is what the replay predicts."""

    case: str
    predicted: str
    seen: dict[str, str]  # by column
    agrees: dict[str, bool]
    deliberate: str | None = None  # why the stock column differs, if it is meant to

    def is_as_expected(self):
        """A deliberate difference that is none any more is not expected, either."""
        stock = self.agrees.get(STOCK, True)
        others = all(agrees for column, agrees in self.agrees.items() if column != STOCK)
        return others and stock == (self.deliberate is None)


def row(case, measured, predicted, agrees, show=str, **more):
    """A row from what was measured, by column, and what was predicted."""
    return Row(
        case, show(predicted),
        {column: show(value) for column, value in measured.items()},
        {column: agrees(value, predicted) for column, value in measured.items()}, **more)


def same_sequence(case, measured, predicted, **more):
    """A row for sequences that have to be equal, item by item."""
    def share(values):
        equal = sum(a == b for a, b in zip(values, predicted))
        return f"{equal} of {len(predicted)}"

    return Row(
        case, f"{len(predicted)}",
        {column: share(values) for column, values in measured.items()},
        {column: list(values) == list(predicted) for column, values in measured.items()}, **more)


@dataclass
class Scenario:
    """A family of cases that are measured together."""

    name: str
    title: str
    about: str
    run: Callable
    module: str | None = None  # why the module's column is empty, if it is
    rows: list[Row] = field(default_factory=list)
    seconds: float = 0.0

    def is_as_expected(self):
        return bool(self.rows) and all(row.is_as_expected() for row in self.rows)


ALL: list[Scenario] = []


def scenario(name, title, module=None):
    """Registers a function of a rig as a scenario; its documentation says what is compared."""
    def register(run):
        about = " ".join(run.__doc__.split())
        ALL.append(Scenario(name, title, about, run, module))
        return run

    return register
