"""What must go is gone, on every store, and what must stay stays."""
