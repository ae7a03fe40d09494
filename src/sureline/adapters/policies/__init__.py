"""Policy files in YAML: reading, checking, freezing into core values, hashing."""
