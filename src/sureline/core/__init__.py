"""The pure core: values in, values out; no I/O, clock, environment or randomness."""
