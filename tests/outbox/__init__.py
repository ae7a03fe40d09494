"""The outbox end to end: a real store, real sockets, a clock that is told the time."""
