"""Adapters to language models; the engine imports no vendor SDK."""
