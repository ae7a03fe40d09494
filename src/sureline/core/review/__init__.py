"""Review: what people do with an output, as pure state."""
