"""One Sui network over one node: implements `types.Network`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from tidegate.core.chain.execution import Submitter
from tidegate.core.chain.messages import epoch_request, field_mask, normal_type, read_epoch
from tidegate.core.chain.outcomes import HISTORY_PATHS, read_entry
from tidegate.core.chain.rpc import Node
from tidegate.core.chain.simulation import NOBODY, Simulator
from tidegate.core.chain.types import (
    Build,
    CoinBalance,
    CoinMetadata,
    Draft,
    EpochInfo,
    HistoryPage,
    Outcome,
    Signature,
)
from tidegate.core.errors import NetworkError, UsageError

if TYPE_CHECKING:
    from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

    from tidegate.core.chain.deployments import Deployment

_PAGE = 1_000
_MAX_HISTORY = 1_000
_EPOCH_FRESH_S = 60.0


def read_identity(node: Node) -> tuple[str, EpochInfo]:
    """Return a node's chain id and present epoch, in one round trip.

    Raises:
        NetworkError: the node cannot be reached, or does not say.
    """
    from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

    info, epoch = node.read_both(
        lambda stubs: stubs.ledger.get_service_info(rpc.GetServiceInfoRequest()),
        lambda stubs: stubs.ledger.get_epoch(epoch_request()),
    )
    if not info.chain_id:
        raise NetworkError(f"{node.endpoint.url} does not say which chain it serves.", retryable=False)
    return info.chain_id, read_epoch(epoch)


class SuiNetwork:
    """A network that is open. Any number of threads may use it at once.

    Args:
        name: What the network was opened as.
        chain_id: Digest of its genesis checkpoint.
        deployment: Where the protocols are.
        epoch: As read just now.
        node: The node that answers.
        monotonic: Seconds, to know when `epoch` is old.
        resources: Closed with the network.
    """

    def __init__(
        self,
        *,
        name: str,
        chain_id: str,
        deployment: Deployment,
        epoch: EpochInfo,
        node: Node,
        monotonic: Callable[[], float],
        resources: ExitStack,
    ) -> None:
        self.name = name
        self.url = node.endpoint.url
        self.chain_id = chain_id
        self.deployment = deployment
        self._node = node
        self._monotonic = monotonic
        self._epoch = (epoch, monotonic())
        self._simulator = Simulator(node)
        self._submitter = Submitter(node)
        self._resources = resources

    def close(self) -> None:
        """Close the connection, and the sandbox if it was started for it. Closing twice does nothing."""
        self._resources.close()

    # Reads

    def epoch(self) -> EpochInfo:
        """Return the present epoch.

        Raises:
            NetworkError: no answer.
        """
        answer = self._node.read(lambda stubs: stubs.ledger.get_epoch(epoch_request()))
        info = read_epoch(answer)
        self._epoch = (info, self._monotonic())
        return info

    def balances(self, address: str) -> tuple[CoinBalance, ...]:
        """Return what an address holds, coins and address balances together, in the order of coin types.

        Raises:
            NetworkError: no answer.
        """
        page = self._balances_page(address, None)
        found = list(page.balances)
        while page.next_page_token:
            page = self._balances_page(address, page.next_page_token)
            found += page.balances
        held = [CoinBalance(normal_type(each.coin_type), each.balance) for each in found if each.balance]
        return tuple(sorted(held, key=lambda each: each.coin_type))

    def balance(self, address: str, coin_type: str) -> int:
        """Return the base units of one coin type that an address holds.

        Raises:
            NetworkError: no answer.
        """
        from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

        request = rpc.GetBalanceRequest(owner=address, coin_type=coin_type)
        answer = self._node.read(lambda stubs: stubs.state.get_balance(request))
        return 0 if answer.balance is None else answer.balance.balance or 0

    def coin_metadata(self, coin_type: str) -> CoinMetadata | None:
        """Return what the chain says of a coin, or None if it has no metadata.

        Raises:
            NetworkError: no answer.
        """
        from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

        request = rpc.GetCoinInfoRequest(coin_type=coin_type)
        answer = self._node.find(lambda stubs: stubs.state.get_coin_info(request))
        metadata = None if answer is None else answer.metadata
        if metadata is None or metadata.decimals is None:
            return None
        return CoinMetadata(
            normal_type(coin_type), metadata.symbol or "", metadata.name or "", metadata.decimals
        )

    def object_kind(self, object_id: str) -> str | None:
        """Return the Move type of an object, ``package`` for a package, None if there is no such object.

        Raises:
            NetworkError: no answer.
        """
        from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

        request = rpc.GetObjectRequest(object_id=object_id, read_mask=field_mask("object_type"))
        answer = self._node.find(lambda stubs: stubs.ledger.get_object(request))
        kind = None if answer is None or answer.object is None else answer.object.object_type
        if kind is None or kind == "package":
            return kind
        return normal_type(kind)

    def history(self, address: str, *, limit: int, before: str | None = None) -> HistoryPage:
        """Return transactions that an address sent or that changed what it owns, newest first.

        Args:
            address: The address.
            limit: Most entries, 1 to 1,000.
            before: Cursor of an earlier page.

        Raises:
            UsageError: the limit or the cursor cannot be used.
            NetworkError: no answer.
        """
        from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

        if not 1 <= limit <= _MAX_HISTORY:
            raise UsageError(f"A page of history has 1 to {_MAX_HISTORY} entries.")
        predicate = rpc.TransactionLiteral(affected_address=rpc.AffectedAddressFilter(address=address))
        request = rpc.ListTransactionsRequest(
            read_mask=field_mask(*HISTORY_PATHS),
            filter=rpc.TransactionFilter(terms=[rpc.TransactionTerm(literals=[predicate])]),
            options=rpc.QueryOptions(
                limit=limit,
                before=None if before is None else _cursor(before),
                ordering=rpc.Ordering.DESCENDING,
            ),
        )
        frames = self._node.collect(lambda stubs: stubs.ledger.list_transactions(request))
        entries = tuple(read_entry(frame.transaction) for frame in frames if frame.transaction is not None)
        return HistoryPage(entries, _next_cursor(frames))

    # Transactions

    def inspect(self, build: Build, *, sender: str = NOBODY) -> tuple[tuple[bytes, ...], ...]:
        """Run a read-only transaction without checks; return each command's return values as BCS.

        Args:
            build: Adds the commands.
            sender: Who asks; nobody if not given.

        Raises:
            SimulationFailed: it stopped; the message names module, function and code.
            NetworkError: no answer.
        """
        return self._simulator.inspect(build, sender, self._recent_epoch().reference_gas_price)

    def draft(self, sender: str, build: Build) -> Draft:
        """Build a transaction, choose its gas, and simulate exactly its bytes.

        Raises:
            InsufficientBalance: coins or gas do not suffice.
            NetworkError: no answer, or the node refuses the transaction.
        """
        return self._simulator.draft(sender, build)

    def simulate(self, transaction: bytes) -> Outcome:
        """Return what BCS TransactionData would do if it were executed now.

        Raises:
            NetworkError: no answer, or the node refuses the transaction.
        """
        return self._simulator.simulate(transaction)

    def execute(self, transaction: bytes, signature: Signature) -> Outcome:
        """Submit signed BCS TransactionData and wait until it is final.

        Raises:
            NetworkError: it was surely not accepted: refused, or no connection was made.
            OutcomeUnknown: it was sent, and the network does not say what became of it.
        """
        return self._submitter.execute(transaction, signature)

    def transaction(self, digest: str) -> Outcome | None:
        """Return what an executed transaction did, or None if the network does not know it.

        Raises:
            NetworkError: no answer.
        """
        return self._submitter.transaction(digest)

    def _balances_page(self, address: str, token: bytes | None) -> rpc.ListBalancesResponse:
        from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

        request = rpc.ListBalancesRequest(owner=address, page_size=_PAGE, page_token=token)
        return self._node.read(lambda stubs: stubs.state.list_balances(request))

    def _recent_epoch(self) -> EpochInfo:
        epoch, read_at = self._epoch
        return epoch if self._monotonic() - read_at < _EPOCH_FRESH_S else self.epoch()


def _cursor(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise UsageError("That is no cursor of a page of history.") from None


def _next_cursor(frames: Sequence[rpc.ListTransactionsResponse]) -> str | None:
    """Return where the next older page begins, or None when the scan came to the beginning."""
    from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

    if not frames:
        return None
    end, watermark = frames[-1].end, frames[-1].watermark
    stopped_early = (rpc.QueryEndReason.ITEM_LIMIT, rpc.QueryEndReason.SCAN_LIMIT)
    if end is None or end.reason not in stopped_early or watermark is None or not watermark.cursor:
        return None
    return watermark.cursor.hex()
