"""Frozen values that every layer speaks."""
