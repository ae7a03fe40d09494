"""Second opinions: a judge, a self-evaluation, several generations."""
