"""The gate's own reasoning: compose signals, choose what is judged, route."""
