"""Packs of evidence for auditors, as files."""
