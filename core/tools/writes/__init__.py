"""Write tools: they move money, one at a time, by the write road."""
