"""What a scenario is, what it gives, and the list of all of them.

A scenario starts Envoy with some clusters, asks, and compares who answered with what the replay
predicts from the same messages. Its result is a list of rows, one for each case.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from .module import COLUMN

STOCK = "A"
MODULE = COLUMN


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


def same_sequence(case, measured, predicted, reachable=None):
    """A row for sequences that have to be equal, item by item.

    `reachable` are the hosts that a module can answer with, if that is not all of them: its
    column is compared where one of these is predicted.
    """
    result = Row(case, f"{len(predicted)}", {}, {})
    for column, values in measured.items():
        pairs = list(zip(values, predicted, strict=True))
        if column == MODULE and reachable is not None:
            pairs = [(seen, host) for seen, host in pairs if host in reachable]
            if not pairs:
                result.seen[column] = "none possible"
                continue
        equal = sum(seen == host for seen, host in pairs)
        result.seen[column] = f"{equal} of {len(pairs)}"
        result.agrees[column] = equal == len(pairs)
    return result


@dataclass
class Scenario:
    """A family of cases that are measured together."""

    name: str
    title: str
    about: str
    run: Callable
    module: str | None = None  # why the module's column is empty, if it is
    by_chance: bool = False  # whether shares are compared that chance decides
    rows: list[Row] = field(default_factory=list)

    def is_as_expected(self):
        return bool(self.rows) and all(row.is_as_expected() for row in self.rows)


ALL: list[Scenario] = []


def scenario(name, title, module=None, by_chance=False):
    """Registers a function of a rig as a scenario; its documentation says what is compared."""
    def register(run):
        about = " ".join(run.__doc__.split())
        ALL.append(Scenario(name, title, about, run, module, by_chance))
        return run

    return register
