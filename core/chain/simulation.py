"""Completes transactions and asks the network what they would do: inspections, drafts, simulations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tidegate.core.chain.messages import epoch_request, field_mask, read_epoch
from tidegate.core.chain.outcomes import OUTCOME_PATHS, ran_out_of_gas, read_failure, read_outcome
from tidegate.core.chain.rpc import Node
from tidegate.core.chain.transaction_data import (
    GasPayment,
    ObjectReference,
    Reference,
    SharedReference,
    transaction_bytes,
    transaction_digest,
)
from tidegate.core.chain.transactions import (
    GAS_ALLOWANCE,
    MAX_GAS_BUDGET,
    MIN_GAS_UNITS,
    PtbBuilder,
    fewest,
    gas_budget,
    total,
)
from tidegate.core.chain.types import Build, CoinObject, Draft, EpochInfo, GasSummary, Outcome
from tidegate.core.errors import InspectionAborted, InsufficientBalance, NetworkError, SimulationFailed
from tidegate.core.money import Amount
from tidegate.core.tokens import SUI, normalize_address

if TYPE_CHECKING:
    from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

NOBODY = normalize_address("0x0")

_PAGE = 1_000
_OUTCOME = tuple(f"transaction.{path}" for path in OUTCOME_PATHS)


class Simulator:
    """Builds and simulates transactions on one node.

    Args:
        node: The node.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        # How a shared object is named never changes, nor does an immutable object.
        self._references: dict[str, Reference] = {}

    def simulate(self, transaction: bytes) -> Outcome:
        """Return what a transaction would do if it were executed now, all checks made.

        Args:
            transaction: BCS TransactionData.

        Raises:
            NetworkError: no answer, or the node refuses the transaction.
        """
        answer = self._run(transaction, checked=True, paths=_OUTCOME)
        return read_outcome(answer.transaction, transaction_digest(transaction))

    def inspect(self, build: Build, sender: str, price: int) -> tuple[tuple[bytes, ...], ...]:
        """Run a read-only transaction without checks; return each command's return values as BCS.

        Args:
            build: Adds the commands.
            sender: Who asks.
            price: MIST a gas unit, not below the reference.

        Raises:
            InspectionAborted: a contract stopped it; the message names module, function and code.
            SimulationFailed: it stopped for another reason.
            NetworkError: no answer.
        """
        builder = PtbBuilder(sender, (), lambda coin_type: self.coins(sender, coin_type))
        build(builder)
        kind = builder.kind(self._resolve(builder.shared_ids))
        gas = GasPayment((), price, MAX_GAS_BUDGET)
        data = transaction_bytes(kind, builder.sender, gas, last_epoch=None)
        answer = self._run(data, checked=False, paths=("transaction.effects.status", "command_outputs"))
        effects = None if answer.transaction is None else answer.transaction.effects
        if effects is None or effects.status is None:
            raise NetworkError("The node's answer does not say how the inspection ended.")
        if not effects.status.success:
            failure = read_failure(effects.status.error)
            error = SimulationFailed if failure.code is None else InspectionAborted
            raise error(failure.description)
        return tuple(
            tuple(_value(output) for output in command.return_values) for command in answer.command_outputs
        )

    def draft(self, sender: str, build: Build) -> Draft:
        """Build a transaction, choose its gas, and simulate exactly its bytes.

        It may be executed in this epoch and the next only, so that one that is never heard of ends by itself.

        Args:
            sender: Who will sign and pay.
            build: Adds the commands.

        Raises:
            InsufficientBalance: coins or gas do not suffice.
            NetworkError: no answer, or the node refuses the transaction.
        """
        epoch, sui_coins = self._epoch_and_coins(sender)
        builder = PtbBuilder(sender, sui_coins, lambda coin_type: self.coins(sender, coin_type))
        build(builder)
        kind = builder.kind(self._resolve(builder.shared_ids))

        def complete(gas: GasPayment) -> bytes:
            return transaction_bytes(kind, builder.sender, gas, last_epoch=epoch.epoch + 1)

        price = epoch.reference_gas_price
        cost = self._cost(builder, complete, price)
        gas = _payment(builder, price, gas_budget(cost.computation, cost.storage, price))
        data = complete(gas)
        return Draft(data, transaction_digest(data), gas.budget, self.simulate(data))

    def _cost(self, builder: PtbBuilder, complete: Callable[[GasPayment], bytes], price: int) -> GasSummary:
        """Return what a trial run costs, allowing first what a usual write needs and then all there is.

        Raises:
            InsufficientBalance: not even all there is pays for it.
        """
        for allowance in (GAS_ALLOWANCE, MAX_GAS_BUDGET):
            trial = _payment(builder, price, allowance)
            data = complete(trial)
            executed = self._run(data, checked=True, paths=_OUTCOME).transaction
            if not ran_out_of_gas(executed):
                return read_outcome(executed, transaction_digest(data)).gas
        raise _no_gas(builder, f"more than {Amount(SUI, trial.budget)}")

    def coins(self, owner: str, coin_type: str) -> list[CoinObject]:
        """Return every coin object of one type that an address owns.

        Raises:
            NetworkError: no answer.
        """
        return self._further_coins(owner, coin_type, self._coins_page(owner, coin_type, None))

    def _epoch_and_coins(self, sender: str) -> tuple[EpochInfo, list[CoinObject]]:
        first = _coins_request(sender, SUI.coin_type, None)
        epoch, page = self._node.read_both(
            lambda stubs: stubs.ledger.get_epoch(epoch_request()),
            lambda stubs: stubs.state.list_owned_objects(first),
        )
        return read_epoch(epoch), self._further_coins(sender, SUI.coin_type, page)

    def _coins_page(self, owner: str, coin_type: str, token: bytes | None) -> rpc.ListOwnedObjectsResponse:
        request = _coins_request(owner, coin_type, token)
        return self._node.read(lambda stubs: stubs.state.list_owned_objects(request))

    def _further_coins(
        self, owner: str, coin_type: str, page: rpc.ListOwnedObjectsResponse
    ) -> list[CoinObject]:
        found = [_coin(item) for item in page.objects]
        while page.next_page_token:
            page = self._coins_page(owner, coin_type, page.next_page_token)
            found += [_coin(item) for item in page.objects]
        return found

    def _resolve(self, object_ids: Sequence[str]) -> dict[str, Reference]:
        """Return how a transaction names these objects, asking for all unknown ones at once."""
        from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

        unknown = [object_id for object_id in object_ids if object_id not in self._references]
        if unknown:
            request = rpc.BatchGetObjectsRequest(
                requests=[rpc.GetObjectRequest(object_id=object_id) for object_id in unknown],
                read_mask=field_mask("object_id", "version", "digest", "owner"),
            )
            answer = self._node.read(lambda stubs: stubs.ledger.batch_get_objects(request))
            for object_id, result in zip(unknown, answer.objects, strict=True):
                self._references[object_id] = _reference(object_id, result.object)
        return {object_id: self._references[object_id] for object_id in object_ids}

    def _run(self, data: bytes, *, checked: bool, paths: Sequence[str]) -> rpc.SimulateTransactionResponse:
        from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

        checks = rpc.SimulateTransactionRequestTransactionChecks
        request = rpc.SimulateTransactionRequest(
            transaction=rpc.Transaction(bcs=rpc.Bcs(value=data)),
            read_mask=field_mask(*paths),
            checks=checks.ENABLED if checked else checks.DISABLED,
            do_gas_selection=False,
        )
        return self._node.read(lambda stubs: stubs.execution.simulate_transaction(request))


def _payment(builder: PtbBuilder, price: int, wanted: int) -> GasPayment:
    """Return the fewest coins that cover what is spent and a budget, which is lowered to what they hold."""
    # What commands merge into the gas coin cannot pay for gas: the budget is set aside before they run.
    taken = max(0, builder.spent_from_gas - builder.merged_into_gas)
    coins = fewest(builder.gas_coins, taken + wanted)
    free = total(coins) - taken
    budget = min(wanted, free, MAX_GAS_BUDGET)
    least = MIN_GAS_UNITS * price
    if budget < least:
        raise _no_gas(builder, f"at least {Amount(SUI, least)}")
    return GasPayment(coins, price, budget)


def _no_gas(builder: PtbBuilder, needed: str) -> InsufficientBalance:
    held, spent = Amount(SUI, builder.gas_held), Amount(SUI, builder.spent_from_gas)
    moved = f"this moves {spent} and" if spent.base else "this"
    return InsufficientBalance(
        f"The wallet's coins hold {held}; {moved} needs {needed} for gas.",
        hint="Add SUI to the wallet, or use a smaller amount.",
    )


def _coins_request(owner: str, coin_type: str, token: bytes | None) -> rpc.ListOwnedObjectsRequest:
    from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

    return rpc.ListOwnedObjectsRequest(
        owner=owner,
        page_size=_PAGE,
        page_token=token,
        read_mask=field_mask("object_id", "version", "digest", "balance"),
        object_type=f"0x2::coin::Coin<{coin_type}>",
    )


def _coin(item: rpc.Object) -> CoinObject:
    if item.object_id is None or item.version is None or item.digest is None or item.balance is None:
        raise NetworkError("The node lists a coin without its version, digest or balance.", retryable=False)
    return CoinObject(normalize_address(item.object_id), item.version, item.digest, item.balance)


def _reference(object_id: str, found: rpc.Object | None) -> Reference:
    from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

    owner = None if found is None else found.owner
    if found is None or owner is None or found.version is None or found.digest is None:
        raise NetworkError(f"There is no object {object_id} on this network.", retryable=False)
    if owner.kind in (rpc.OwnerOwnerKind.SHARED, rpc.OwnerOwnerKind.CONSENSUS_ADDRESS):
        return SharedReference(object_id, owner.version or 0)
    if owner.kind == rpc.OwnerOwnerKind.IMMUTABLE:
        return ObjectReference(object_id, found.version, found.digest)
    raise NetworkError(f"Object {object_id} is not shared: somebody owns it.", retryable=False)


def _value(output: rpc.CommandOutput) -> bytes:
    return b"" if output.value is None else output.value.value or b""
