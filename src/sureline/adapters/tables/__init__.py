"""Readers of CSV, JSONL and Parquet files."""

from sureline.adapters.tables.opening import open_table

__all__ = ["open_table"]
