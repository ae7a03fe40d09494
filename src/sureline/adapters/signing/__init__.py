"""Signatures under what is handed to an auditor."""
