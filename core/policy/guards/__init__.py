"""Guards: small pure functions of a GuardContext."""
