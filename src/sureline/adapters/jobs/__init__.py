"""Runs periodic jobs."""
