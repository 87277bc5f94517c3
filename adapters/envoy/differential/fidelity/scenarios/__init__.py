"""All scenarios, in the order in which they run and are reported."""

from . import chance, hashing, orders, priorities  # noqa: F401
