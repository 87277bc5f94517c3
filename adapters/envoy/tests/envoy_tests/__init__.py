"""The end-to-end tests of the module in a real Envoy; run by test_envoy.py."""
