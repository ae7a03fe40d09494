"""Pages for people: rendered here, no script needed to read them."""
