"""Review: what people can do with the queue."""
