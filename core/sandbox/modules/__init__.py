"""Move modules of the sandbox, one file a protocol, under their mainnet ids."""
