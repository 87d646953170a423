"""Playbooks: Markdown with TOML front matter."""
