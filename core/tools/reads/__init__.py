"""Read tools: no side effects, run in parallel."""
