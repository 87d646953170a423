"""The library under the command: events, money, the write road, the engine."""
