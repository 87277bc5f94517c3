"""All scenarios, in the order in which they run and are reported."""

from . import chance, hashing, load_aware, load_aware_courses, orders, priorities, rebuilds, reported_weights, slow_start, validation  # noqa: F401
