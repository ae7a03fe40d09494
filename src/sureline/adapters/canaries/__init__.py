"""The shipped canaries, and how a set of them is read."""
