"""Executes and simulates transactions: inputs, run, gas, effects, and the record of them."""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.core.sandbox.effects import Effects, Events, ObjectChange
from tidegate.core.sandbox.encoding import digest_bytes
from tidegate.core.sandbox.gas import MAX_BUDGET, GasUsed, gas_used
from tidegate.core.sandbox.genesis import REFERENCE_GAS_PRICE
from tidegate.core.sandbox.inputs import LoadedInputs, check_gas, load_inputs
from tidegate.core.sandbox.interpreter import Interpreter, Outcome
from tidegate.core.sandbox.ledger import Fault, Ledger
from tidegate.core.sandbox.modules.base import Coin, MoveAbort
from tidegate.core.sandbox.movetypes import coin_of
from tidegate.core.sandbox.objects import (
    GAS_COIN_TYPE,
    Owner,
    StoredObject,
    coin_contents,
    owned_by,
)
from tidegate.core.sandbox.refusals import ExecutionFailure, FailureKind, invalid
from tidegate.core.sandbox.session import Environment
from tidegate.core.sandbox.transactions import (
    MAX_GAS_PAYMENT,
    Gas,
    ObjectRef,
    OwnedInput,
    SharedInput,
    Transaction,
    transaction_digest,
)
from tidegate.core.sandbox.values import ReturnedValue
from tidegate.core.tokens import SUI

MOCK_GAS_COIN = "0x" + "fa".rjust(64, "0")
"""Id of the coin that pays when a simulation names none."""

_MOCK_BALANCE = 10**18
# What a client should allow above the simulated cost; the JS and Rust SDKs add 1000 units too.
_BUDGET_OVERHEAD_UNITS = 1_000
_ABORT_FAULT = MoveAbort("0x" + "fa".rjust(64, "0") + "::fault", "abort", 1)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a transaction."""

    transaction: Transaction
    digest: str
    effects: Effects
    results: list[list[ReturnedValue]]
    """Values that each command of a simulation returned, as far as it came."""

    @property
    def written(self) -> list[StoredObject]:
        """New versions of objects."""
        return [change.after for change in self.effects.changes if change.after is not None]

    @property
    def deleted(self) -> list[tuple[str, int]]:
        """Ids that ended, with the version at which they did."""
        version = self.effects.lamport_version
        return [(change.id, version) for change in self.effects.changes if change.after is None]

    @property
    def affected(self) -> set[str]:
        """The sender and every address that owned or owns an object of it."""
        sides = [side for change in self.effects.changes for side in (change.before, change.after)]
        owners = {side.owner.address for side in sides if side is not None and side.owner.kind == "address"}
        return owners | {self.transaction.sender}


def execute(ledger: Ledger, transaction: Transaction, *, abort: bool = False) -> Run:
    """Run a signed transaction. Call it inside ``ledger.write()`` and record the result there.

    Args:
        ledger: The state; it is not changed here.
        transaction: Its signatures have been checked.
        abort: Fail with a Move abort whatever it does (the ``abort`` fault).

    Raises:
        Refused: the inputs are not what the transaction says; nothing is charged.
    """
    inputs = load_inputs(ledger, transaction)
    check_gas(transaction.gas, inputs.gas_coins)
    return _run(ledger, transaction, inputs, abort=abort)


def simulate(ledger: Ledger, transaction: Transaction, *, checked: bool, select_gas: bool) -> Run:
    """Run a transaction without recording it or asking for a signature.

    Args:
        ledger: The state; call inside ``ledger.read()``.
        transaction: May be without gas coins: a coin that does not exist pays then.
        checked: Check inputs, ownership and gas as an execution does; False inspects freely.
        select_gas: Estimate a missing budget and choose missing gas coins among the payer's.

    Raises:
        Refused: as for `execute`, or the payer's coins do not cover the budget.
    """
    gas = transaction.gas
    filled = transaction.with_gas(
        Gas(gas.payment, gas.owner, gas.price or REFERENCE_GAS_PRICE, gas.budget or MAX_BUDGET)
    )
    if checked and select_gas:
        filled = _select_gas(ledger, filled, has_budget=gas.budget > 0)
    inputs = load_inputs(ledger, filled, checked=checked)
    if not inputs.gas_coins:
        inputs = LoadedInputs(inputs.objects, (_mock_coin(filled.gas.owner),))
    elif checked:
        if not gas.budget and not select_gas:
            held = sum(coin.balance or 0 for coin in inputs.gas_coins)
            filled = filled.with_gas(
                Gas(filled.gas.payment, filled.gas.owner, filled.gas.price, min(held, MAX_BUDGET))
            )
        check_gas(filled.gas, inputs.gas_coins)
    return _run(ledger, filled, inputs, record=True, keep_unused=not checked)


def _select_gas(ledger: Ledger, transaction: Transaction, *, has_budget: bool) -> Transaction:
    gas = transaction.gas
    budget = gas.budget
    if not has_budget:
        unpaid = transaction.with_gas(Gas((), gas.owner, gas.price, MAX_BUDGET))
        inputs = load_inputs(ledger, unpaid)
        used = _run(ledger, unpaid, LoadedInputs(inputs.objects, (_mock_coin(gas.owner),))).effects.gas
        overhead = _BUDGET_OVERHEAD_UNITS * gas.price
        budget = min(MAX_BUDGET, used.computation + overhead + used.storage)
    payment = gas.payment
    if not payment:
        named = {item.ref.id for item in transaction.inputs if isinstance(item, OwnedInput)}
        held, chosen = 0, list[ObjectRef]()
        for coin in ledger.coins(gas.owner, SUI.coin_type):
            if coin.id in named:
                continue
            # Every coin is taken, since the commands may spend from the gas coin too.
            chosen.append(ObjectRef(coin.id, coin.version, coin.digest))
            held += coin.balance or 0
            if len(chosen) == MAX_GAS_PAYMENT:
                break
        if held < budget:
            raise invalid(
                "Unable to perform gas selection due to insufficient SUI balance (in MIST) for required gas"
                f" budget: available {held}, required {budget}"
            )
        payment = tuple(chosen)
    return transaction.with_gas(Gas(payment, gas.owner, gas.price, budget))


def _mock_coin(owner: str) -> StoredObject:
    contents = coin_contents(MOCK_GAS_COIN, _MOCK_BALANCE)
    return StoredObject(MOCK_GAS_COIN, 1, GAS_COIN_TYPE, owned_by(owner), contents, transaction_digest(b""))


def _run(
    ledger: Ledger,
    transaction: Transaction,
    inputs: LoadedInputs,
    *,
    record: bool = False,
    keep_unused: bool = False,
    abort: bool = False,
) -> Run:
    digest = transaction_digest(transaction.bcs())
    gas, paying = transaction.gas, inputs.gas_coins[0]
    held = sum(coin.balance or 0 for coin in inputs.gas_coins)
    # The budget is set aside first, so that commands can not spend what gas may cost.
    budget = min(gas.budget, held)
    spendable = Coin(SUI.coin_type, held - budget, paying.id)
    environment = _environment(ledger)
    interpreter = Interpreter(transaction, digest, inputs.objects, spendable, environment)
    failure: ExecutionFailure | None = None
    try:
        if abort:
            raise _fault_abort()
        outcome = interpreter.run(record=record, keep_unused=keep_unused)
    except ExecutionFailure as error:
        failure, outcome = error, None
    computation = min(interpreter.units * gas.price, budget)
    if outcome is not None and interpreter.units * gas.price > budget:
        failure, outcome = _out_of_gas("computation costs more than the budget"), None
    settlement = _Settlement(digest, transaction, inputs)
    if outcome is not None:
        changes, used = settlement.close(outcome, computation, spendable.value + budget)
        if used.net > budget:
            failure, outcome = _out_of_gas(f"{used.net} MIST are needed, the budget is {budget}"), None
    if outcome is None:
        changes, used = settlement.close(interpreter.untouched(), computation, held)
        if used.net > budget:
            changes, used = settlement.close(interpreter.untouched(), budget, held, storage=False)
    effects = Effects(
        failure,
        ledger.epoch,
        used,
        digest,
        paying.id,
        Events(transaction.sender, () if outcome is None else tuple(outcome.events)),
        _dependencies([*inputs.objects.values(), *inputs.gas_coins]),
        settlement.version,
        changes,
        _read_only(transaction, inputs),
    )
    return Run(transaction, digest, effects, interpreter.outcome.returned)


def _environment(ledger: Ledger) -> Environment:
    now_ms = ledger.now_ms
    # The clock goes on while the commands run; a price dated by it would come from the transaction's future.
    published_ms = now_ms - ledger.fault(Fault.LAG)

    def price(coin_type: str) -> tuple[int, int] | None:
        found = ledger.price(coin_type)
        return None if found is None else (found, published_ms)

    return Environment(now_ms, ledger.epoch, price)


def _fault_abort() -> ExecutionFailure:
    failure = ExecutionFailure(FailureKind.MOVE_ABORT, str(_ABORT_FAULT), abort=_ABORT_FAULT)
    failure.command = 0
    return failure


def _out_of_gas(message: str) -> ExecutionFailure:
    return ExecutionFailure(FailureKind.INSUFFICIENT_GAS, message)


def _dependencies(inputs: list[StoredObject]) -> tuple[str, ...]:
    return tuple(sorted({item.previous_transaction for item in inputs}, key=digest_bytes))


def _read_only(transaction: Transaction, inputs: LoadedInputs) -> tuple[StoredObject, ...]:
    shared = [item.id for item in transaction.inputs if isinstance(item, SharedInput) and not item.mutable]
    return tuple(inputs.objects[object_id] for object_id in sorted(shared))


class _Settlement:
    """Turns the outcome of a run into new versions of objects, with gas charged.

    As on Sui, every object that the transaction could have changed gets a new version, changed or not and
    successful or not (https://docs.sui.io/concepts/versioning, Lamport timestamps).
    """

    def __init__(self, digest: str, transaction: Transaction, inputs: LoadedInputs) -> None:
        self._digest = digest
        self._paying, *self._smashed = inputs.gas_coins
        read_only = {
            item.id for item in transaction.inputs if isinstance(item, SharedInput) and not item.mutable
        }
        self._mutable = {
            item.id: item
            for item in inputs.objects.values()
            if item.owner.kind != "immutable" and item.id not in read_only
        }
        self.version = 1 + max(item.version for item in (*inputs.objects.values(), *inputs.gas_coins))

    def close(
        self, outcome: Outcome, computation: int, gas_value: int, *, storage: bool = True
    ) -> tuple[tuple[ObjectChange, ...], GasUsed]:
        """Return the changes of all objects and the gas used.

        Args:
            outcome: What the commands left.
            computation: MIST for computation.
            gas_value: MIST in the gas coin after the commands, with the budget back in it.
            storage: False charges no storage, when not even the inputs' storage can be paid.
        """
        after = {item.id: self._rewritten(item, outcome) for item in self._mutable.values()}
        for object_id, (coin, owner) in outcome.coins.items():
            if object_id not in self._mutable and object_id != self._paying.id:
                after[object_id] = self._coin(object_id, coin, owner)
        after |= {coin.id: None for coin in self._smashed}
        after[self._paying.id] = self._paying.next_version(self.version, self._digest)
        before = self._mutable | {coin.id: coin for coin in (self._paying, *self._smashed)}
        used = GasUsed(computation, 0, 0, 0)
        if storage:
            stored = [item.storage_rebate for item in after.values() if item is not None]
            used = gas_used(computation, stored, [item.storage_rebate for item in before.values()])
        _, gas_owner = outcome.coins.get(self._paying.id, (None, self._paying.owner))
        after[self._paying.id] = self._paying.next_version(
            self.version,
            self._digest,
            owner=gas_owner,
            contents=coin_contents(self._paying.id, max(0, gas_value - used.net)),
        )
        changes = [
            ObjectChange(object_id, before.get(object_id), after[object_id]) for object_id in sorted(after)
        ]
        return tuple(changes), used

    def _rewritten(self, item: StoredObject, outcome: Outcome) -> StoredObject | None:
        if item.coin_type is not None:
            if item.id not in outcome.coins:
                return None
            coin, owner = outcome.coins[item.id]
            contents = coin_contents(item.id, coin.value)
            return item.next_version(self.version, self._digest, owner=owner, contents=contents)
        if item.id in outcome.states:
            return item.next_version(self.version, self._digest).with_state(outcome.states[item.id])
        return item.next_version(self.version, self._digest)

    def _coin(self, object_id: str, coin: Coin, owner: Owner) -> StoredObject:
        contents = coin_contents(object_id, coin.value)
        return StoredObject(object_id, self.version, coin_of(coin.coin_type), owner, contents, self._digest)
