"""Channels: one way of reaching people or programs a file."""
