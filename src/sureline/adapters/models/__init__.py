"""Language models, asked over the network."""
