"""What a transaction costs, in MIST (formulas and constants: shared/spec/pysui.md, section 2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MIN_COMPUTATION_UNITS = 1_000
MAX_BUDGET = 50_000_000_000
"""MIST; the protocol's upper limit of a gas budget."""

_BASIS_POINTS = 10_000
_REBATE_BASIS_POINTS = 9_900


@dataclass(frozen=True, slots=True)
class GasUsed:
    """The four numbers of a gas cost summary, in MIST."""

    computation: int
    storage: int
    rebate: int
    """What the sender gets back for storage that is rewritten or freed: 99 % of what it cost."""
    non_refundable: int
    """The rest, which stays in the storage fund."""

    @property
    def net(self) -> int:
        """MIST that leave the gas coin; negative when the rebate is larger."""
        return self.computation + self.storage - self.rebate


def computation_units(functions: Iterable[int]) -> int:
    """Return the units of a transaction, given those of the functions it called."""
    return max(MIN_COMPUTATION_UNITS, sum(functions))


def gas_used(computation: int, stored: Iterable[int], freed: Iterable[int]) -> GasUsed:
    """Return the cost of a transaction.

    Args:
        computation: MIST for computation.
        stored: Storage price of every object written.
        freed: Storage price that had been paid for every object rewritten or deleted.
    """
    paid_before = sum(freed)
    rebate = (paid_before * _REBATE_BASIS_POINTS + _BASIS_POINTS // 2) // _BASIS_POINTS
    return GasUsed(computation, sum(stored), rebate, paid_before - rebate)
