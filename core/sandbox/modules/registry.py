"""All Move functions of the sandbox, found by package, module and name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tidegate.core.sandbox.modules import cetus, cetus_router, navi, oracle, sui_framework
from tidegate.core.sandbox.modules.base import MoveFunction, MoveModules, ObjectSeed

PROTOCOLS: tuple[MoveModules, ...] = (
    sui_framework.MODULES,
    navi.MODULES,
    oracle.MODULES,
    cetus.MODULES,
    cetus_router.MODULES,
)

_FUNCTIONS = {
    (function.package, function.module, function.name): function
    for protocol in PROTOCOLS
    for function in protocol.functions
}


def find_function(package: str, module: str, name: str) -> MoveFunction | None:
    """Return a function by its normalised package, module and name, or None."""
    return _FUNCTIONS.get((package, module, name))


def seeds(genesis_ms: int) -> Iterator[ObjectSeed]:
    """Yield every protocol's shared objects at genesis."""
    for protocol in PROTOCOLS:
        yield from protocol.seeds(genesis_ms)


def vault_balances(object_type: str, state: Mapping[str, object]) -> dict[str, int]:
    """Return the base units of each coin type that a shared object holds."""
    held: dict[str, int] = {}
    for protocol in PROTOCOLS:
        for coin_type, amount in protocol.vault_balances(object_type, state).items():
            held[coin_type] = held.get(coin_type, 0) + amount
    return held
