"""The gRPC services of a Sui full node that the sandbox offers (``sui.rpc.v2``)."""
