"""The HTTP server: every way in from the network."""
