"""Compares a running Envoy with what `plimsoll replay` predicts, scenario by scenario."""
