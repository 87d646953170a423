"""The Sui network: the RPC client, keys, transactions, and the protocols on chain."""
