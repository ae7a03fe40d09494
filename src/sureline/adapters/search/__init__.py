"""Where similar past cases are found: one way of searching per file."""
