"""Shares of traffic: whether two samples can be of the same distribution."""

import math
from collections import Counter

SIGMAS = 4


def tally(origins, group=None):
    """How often each origin answered, or each group of them that `group` names."""
    return Counter(origins if group is None else map(group, origins))


def regrouped(counts, group):
    """The counts of groups, from the counts of their members."""
    total = Counter()
    for name, count in counts.items():
        total[group(name)] += count
    return total


def deviation(seen, predicted):
    """The largest difference of a share between two tallies, in standard deviations."""
    seen_n, predicted_n = sum(seen.values()), sum(predicted.values())
    worst = 0.0
    for name in seen.keys() | predicted.keys():
        pooled = (seen[name] + predicted[name]) / (seen_n + predicted_n)
        sigma = math.sqrt(pooled * (1 - pooled) * (1 / seen_n + 1 / predicted_n))
        gap = abs(seen[name] / seen_n - predicted[name] / predicted_n)
        worst = max(worst, gap / sigma if sigma else 0.0)
    return worst


def agree(seen, predicted):
    """Whether no share differs by more than four standard deviations."""
    return deviation(seen, predicted) <= SIGMAS


def text(counts, names=None):
    """The shares of these names, or of all in their order, in percent."""
    total = sum(counts.values())
    names = sorted(counts, key=str) if names is None else names
    return " / ".join(f"{100 * counts[name] / total:.2f}" for name in names)
