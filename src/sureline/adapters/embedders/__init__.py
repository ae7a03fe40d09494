"""What turns texts into vectors: one model per file."""
