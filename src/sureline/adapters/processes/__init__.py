"""Programs that run beside this one, in groups that end as a whole."""
