"""The end-to-end tests of the example proxy; run by test_proxy.py."""
