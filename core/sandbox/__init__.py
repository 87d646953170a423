"""The embedded Sui network: a gRPC server, a ledger and the protocol modules on it."""
