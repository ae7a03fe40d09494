"""Missions: what one is told by, and how it goes on. Pure steps from a state to the next."""
