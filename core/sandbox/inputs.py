"""Checks a transaction against the ledger before anything runs: what a validator refuses to sign."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tidegate.core.chain.deployments import CLOCK
from tidegate.core.sandbox.gas import MAX_BUDGET, MIN_COMPUTATION_UNITS
from tidegate.core.sandbox.genesis import REFERENCE_GAS_PRICE
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.sandbox.objects import GAS_COIN_TYPE, StoredObject
from tidegate.core.sandbox.refusals import invalid, not_found
from tidegate.core.sandbox.transactions import (
    MAX_COMMANDS,
    MAX_GAS_PAYMENT,
    Gas,
    ObjectRef,
    OwnedInput,
    SharedInput,
    Transaction,
)


@dataclass(frozen=True, slots=True)
class LoadedInputs:
    """The objects a transaction names."""

    objects: dict[str, StoredObject]
    """By id; without gas coins."""
    gas_coins: tuple[StoredObject, ...]
    """In the order of payment; the first one stays."""


def load_inputs(ledger: Ledger, transaction: Transaction, *, checked: bool = True) -> LoadedInputs:
    """Return the input objects, having checked them.

    Args:
        ledger: Where the objects are.
        transaction: The transaction.
        checked: False loads what is there now, whoever owns it, for an inspection.

    Raises:
        Refused: NOT_FOUND for an object that does not exist, INVALID_ARGUMENT for everything else.
    """
    _check_shape(ledger, transaction)
    objects = {}
    for item in transaction.inputs:
        if isinstance(item, SharedInput):
            objects[item.id] = _shared(ledger, item)
        elif isinstance(item, OwnedInput):
            objects[item.ref.id] = _owned(ledger, item.ref, transaction.sender, checked=checked)
    coins = []
    for ref in transaction.gas.payment:
        coin = _owned(ledger, ref, transaction.gas.owner, checked=checked)
        if coin.type != GAS_COIN_TYPE or coin.owner.kind != "address":
            raise invalid(f"Gas object {ref.id} is not an owned SUI coin")
        coins.append(coin)
    return LoadedInputs(objects, tuple(coins))


def check_gas(gas: Gas, coins: Iterable[StoredObject]) -> None:
    """Refuse a price below the reference, a budget out of bounds, or coins that hold less than the budget.

    Raises:
        Refused: INVALID_ARGUMENT.
    """
    if gas.price < REFERENCE_GAS_PRICE:
        raise invalid(f"Gas price {gas.price} under reference gas price (RGP) {REFERENCE_GAS_PRICE}")
    least = MIN_COMPUTATION_UNITS * gas.price
    if gas.budget < least:
        raise invalid(f"Gas budget: {gas.budget} is lower than min: {least}")
    if gas.budget > MAX_BUDGET:
        raise invalid(f"Gas budget: {gas.budget} is higher than max: {MAX_BUDGET}")
    held = sum(coin.balance or 0 for coin in coins)
    if held < gas.budget:
        raise invalid(f"Balance of gas object {held} is lower than the needed amount: {gas.budget}")


def _check_shape(ledger: Ledger, transaction: Transaction) -> None:
    if not transaction.commands:
        raise invalid("Empty command list")
    if len(transaction.commands) > MAX_COMMANDS:
        raise invalid(f"Too many commands: at most {MAX_COMMANDS} are allowed")
    if len(transaction.gas.payment) > MAX_GAS_PAYMENT:
        raise invalid(f"Too many gas payment objects: at most {MAX_GAS_PAYMENT} are allowed")
    if transaction.expires_after is not None and transaction.expires_after < ledger.epoch:
        raise invalid("Transaction Expired")
    seen: set[str] = set()
    ids = [item.id for item in transaction.inputs if isinstance(item, SharedInput)]
    ids += [item.ref.id for item in transaction.inputs if isinstance(item, OwnedInput)]
    for object_id in [*ids, *(ref.id for ref in transaction.gas.payment)]:
        if object_id in seen:
            raise invalid(f"Mutable object {object_id} cannot appear more than one in one transaction")
        seen.add(object_id)


def _missing(ledger: Ledger, object_id: str, version: int | None) -> Exception:
    ended = ledger.deleted_version(object_id)
    if ended is not None:
        return invalid(f"Object {object_id} was deleted at version {ended}: version {version} is unavailable")
    return not_found(f"Could not find the referenced object {object_id} at version {version}")


def _owned(ledger: Ledger, ref: ObjectRef, signer: str, *, checked: bool) -> StoredObject:
    found = ledger.get_object(ref.id)
    if found is None:
        raise _missing(ledger, ref.id, ref.version)
    if found.owner.kind == "shared":
        raise invalid(f"Object {ref.id} is shared: pass it as a shared object")
    if not checked:
        return found
    if found.version != ref.version:
        raise invalid(
            f"Transaction needs to be rebuilt because object {ref.id} version {ref.version} is unavailable"
            f" for consumption, current version: {found.version}"
        )
    if found.digest != ref.digest:
        raise invalid(f"Invalid Object digest for object {ref.id}. Expected digest: {found.digest}")
    if found.owner.kind == "address" and found.owner.address != signer:
        raise invalid(
            f"Transaction was not signed by the correct sender: Object {ref.id} is owned by account address"
            f" {found.owner.address}, but given owner/signer address is {signer}"
        )
    return found


def _shared(ledger: Ledger, item: SharedInput) -> StoredObject:
    found = ledger.get_object(item.id)
    if found is None:
        raise _missing(ledger, item.id, None)
    if found.owner.kind != "shared":
        raise invalid(f"Object {item.id} is not a shared object")
    if found.owner.initial_version != item.initial_version:
        raise invalid(
            f"The shared object {item.id} began at version {found.owner.initial_version},"
            f" not {item.initial_version}"
        )
    if item.id == CLOCK and item.mutable:
        raise invalid("Immutable parameter expected: the clock can not be passed as mutable")
    return found
