"""The world outside: one port, one folder, one backend per file."""
