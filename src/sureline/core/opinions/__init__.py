"""Second opinions of models: what they are shown, and how what they say is read."""
