"""The write road: every write of every caller takes it, step by step, and there is no second way."""
