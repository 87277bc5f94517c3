"""The page that says how far what Envoy does and what the replay predicts agree."""

import datetime

from .module import WITHHELD
from .scenario import MODULE, STOCK

HEAD = """\
# Fidelity

How far `behavior: envoy` agrees with a running Envoy. `make differential` writes this page: it
starts Envoy {version} on loopback, one process with one worker thread as front and origins, and
asks. Three columns are compared:

* **A**: Envoy's own policy;
* **B**: the same settings in [our module](envoy.md), in the same process;
* **C**: what `plimsoll replay` predicts from the same `Cluster` message.

Exact scenarios have to agree in every answer. Where chance decides, shares of requests have to
agree within four standard deviations, and counters exactly. One comparison in 16 000 fails by
chance: a scenario in which one did is run again, whole.

{day}: {agreeing} of {cases} cases agree, {deliberate} differ on purpose, {wrong} differ otherwise.

| scenario | cases | A = C | B = C |
|---|---:|---:|---:|
{summary}
"""

DIFFERENCES = """\
## What differs on purpose

{reasons}
"""

MODULE_LIMITS = """\
## What the module cannot do

Envoy takes a healthy host from a policy that is a module, and nothing else. Where an unhealthy or
degraded host is predicted, or nobody, exact scenarios compare column B in the other answers only.
There is no column B where Envoy does not tell a module

{withheld}

nor for these scenarios:

{reasons}
"""


def write(path, scenarios, version):
    """Writes the page of a complete run."""
    rows = [row for scenario in scenarios for row in scenario.rows]
    deliberate = [row for row in rows if row.deliberate and row.is_as_expected()]
    wrong = [row for row in rows if not row.is_as_expected()]
    parts = [
        HEAD.format(
            version=version, day=datetime.date.today().isoformat(), cases=len(rows),
            agreeing=len(rows) - len(deliberate) - len(wrong), deliberate=len(deliberate),
            wrong=len(wrong), summary="\n".join(map(_summary, scenarios))),
        DIFFERENCES.format(reasons=_by_reason(deliberate)),
        MODULE_LIMITS.format(withheld=_list(WITHHELD.values()), reasons=_list(
            f"{scenario.title}: {scenario.module}." for scenario in scenarios if scenario.module)),
        *map(_section, scenarios),
    ]
    with open(path, "w", encoding="utf-8") as page:
        page.write("\n".join(parts))


def _summary(scenario):
    return (f"| [{scenario.title}](#{_anchor(scenario.title)}) | {len(scenario.rows)} "
            f"| {_agreement(scenario, STOCK)} | {_agreement(scenario, MODULE)} |")


def _agreement(scenario, column):
    agrees = [row.agrees[column] for row in scenario.rows if column in row.agrees]
    if not agrees:
        return "–"
    return "all" if all(agrees) else f"{sum(agrees)} of {len(agrees)}"


def _by_reason(rows):
    """A list for each reason, with the cases that it holds for."""
    reasons = {}
    for row in rows:
        reasons.setdefault(row.deliberate, []).append(row.case)
    return "\n\n".join(
        f"{reason[0].upper()}{reason[1:]}:\n\n" + _list(map(_cell, cases))
        for reason, cases in reasons.items())


def _list(items):
    return "\n".join(f"* {item}" for item in items)


def _section(scenario):
    columns = [column for column in (STOCK, MODULE)
               if any(column in row.seen for row in scenario.rows)]
    lines = [f"## {scenario.title}", "", scenario.about, "",
             f"| case | C | {' | '.join(columns)} | |", "|---|---|" + "---|" * (1 + len(columns))]
    for row in scenario.rows:
        seen = " | ".join(_cell(row.seen.get(column, "–")) for column in columns)
        lines.append(f"| {_cell(row.case)} | {_cell(row.predicted)} | {seen} | {_mark(row)} |")
    return "\n".join(lines) + "\n"


def _mark(row):
    if not row.is_as_expected():
        return "**differs**"
    return "on purpose" if row.deliberate else "="


def _cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def _anchor(title):
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")
