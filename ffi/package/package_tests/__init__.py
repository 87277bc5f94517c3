"""Tests of the C library as it is shipped; ../test_package.py runs them."""
