"""The outbox: telling what happened, beside the work and never in its way."""
