"""What the use cases need of the world, one small Protocol per file."""
