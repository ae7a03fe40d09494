"""Keeps decisions, outcomes, policies and keys in a database (SQLite so far)."""
