"""Reports in formats that people read."""
