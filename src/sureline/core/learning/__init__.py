"""What is learned from people's answers."""
