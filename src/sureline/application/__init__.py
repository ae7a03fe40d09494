"""The use cases; they speak to the world through the ports only."""
