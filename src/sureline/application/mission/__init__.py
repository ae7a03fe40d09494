"""Missions: stop, escalate or go on."""
