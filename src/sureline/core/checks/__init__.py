"""Deterministic checks of one output: the signal `verification` (G5-G7)."""
