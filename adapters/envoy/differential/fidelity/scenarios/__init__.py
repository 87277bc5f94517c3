"""All scenarios, in the order in which they run and are reported."""

from . import chance, hashing, load_aware, orders, priorities, validation  # noqa: F401
