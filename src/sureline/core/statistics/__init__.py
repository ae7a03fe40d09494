"""Counts, certificates and calibration figures; pure functions of labels."""
