"""The command line: one file a verb; no business rule lives here."""
