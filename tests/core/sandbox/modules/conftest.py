from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pysui.sui.sui_grpc.suimsgs.sui.rpc.v2 as rpc
import pytest

from tidegate.core.chain.deployments import CLOCK, SANDBOX_CETUS, SANDBOX_NAVI, SYSTEM_STATE
from tidegate.core.clock import Clock
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.encoding import address_bytes, text, uint
from tidegate.core.sandbox.executor import Run, execute
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.sandbox.messages import executed_message
from tidegate.core.sandbox.modules.base import MoveAbort, Value
from tidegate.core.sandbox.movetypes import decode_pure, parse_type
from tidegate.core.sandbox.node import simulate_request
from tidegate.core.sandbox.transactions import (
    Argument,
    Command,
    Gas,
    Input,
    InputArg,
    MoveCall,
    ObjectRef,
    OwnedInput,
    PureInput,
    ResultArg,
    SharedInput,
    SplitCoins,
    Transaction,
    TransferObjects,
)
from tidegate.core.tokens import SUI, USDC, normalize_address

START_MS = 1_800_000_000_000
ALICE = normalize_address("0xa11ce")
NAVI_POOLS = {pool.coin_type: pool for pool in SANDBOX_NAVI.pools}
CETUS_POOL = SANDBOX_CETUS.pools[0]


@dataclass
class Chain:
    """A sandbox in memory whose clock a test moves."""

    now_ms: int = START_MS
    ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = Ledger.open(None, Clock(now_ms=lambda: self.now_ms, monotonic=lambda: 0.0))

    def balance(self, coin_type: str, owner: str = ALICE) -> int:
        return self.ledger.balances(owner).get(coin_type, 0)

    def state(self, object_id: str) -> dict[str, object]:
        stored = self.ledger.get_object(object_id)
        assert stored is not None
        return stored.decoded_state()

    def fund(self, coin_type: str, amount: int) -> None:
        controls.faucet(self.ledger, ALICE, coin_type, amount)

    def ptb(self) -> Ptb:
        return Ptb(self)


class Ptb:
    """Builds the transactions that shared/spec/chain.md describes."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._inputs: list[Input] = []
        self._commands: list[Command] = []

    def pure(self, value: bytes) -> Argument:
        return self._input(PureInput(value))

    def u8(self, value: int) -> Argument:
        return self.pure(uint(value, 8))

    def u64(self, value: int) -> Argument:
        return self.pure(uint(value, 64))

    def address(self, value: str) -> Argument:
        return self.pure(address_bytes(value))

    def shared(self, object_id: str) -> Argument:
        for at, item in enumerate(self._inputs):
            if isinstance(item, SharedInput) and item.id == object_id:
                return InputArg(at)
        return self._input(SharedInput(object_id, 1, mutable=object_id != CLOCK))

    def coin(self, coin_type: str, amount: int) -> Argument:
        """Split an amount off Alice's largest coin of a type."""
        held = max(self._chain.ledger.coins(ALICE, coin_type), key=lambda coin: coin.balance or 0)
        source = self._input(OwnedInput(ObjectRef(held.id, held.version, held.digest)))
        self._commands.append(SplitCoins(source, (self.u64(amount),)))
        return ResultArg(len(self._commands) - 1, 0)

    def call(self, target: str, arguments: Sequence[Argument], *types: str) -> ResultArg:
        package, module, name = target.split("::")
        filled = tuple(parse_type(each) for each in types)
        self._commands.append(MoveCall(package, module, name, filled, tuple(arguments)))
        return ResultArg(len(self._commands) - 1, 0)

    def give(self, *items: Argument) -> None:
        self._commands.append(TransferObjects(items, self.address(ALICE)))

    def update_price(self, coin_type: str, *, pyth_price_info: str = "") -> None:
        pool = NAVI_POOLS[coin_type]
        objects = (
            CLOCK,
            SANDBOX_NAVI.oracle_config,
            SANDBOX_NAVI.price_oracle,
            SANDBOX_NAVI.supra_oracle_holder,
            pyth_price_info or pool.pyth_price_info,
            SANDBOX_NAVI.switchboard_aggregator,
        )
        arguments = [*(self.shared(each) for each in objects), self.address(pool.feed_id)]
        self.call(f"{SANDBOX_NAVI.oracle_package}::oracle_pro::update_single_price_v2", arguments)

    def deposit(self, coin_type: str, amount: int, *, coin: Argument | None = None) -> None:
        pool = NAVI_POOLS[coin_type]
        self.call(
            f"{SANDBOX_NAVI.package}::incentive_v3::entry_deposit",
            [
                self.shared(CLOCK),
                self.shared(SANDBOX_NAVI.storage),
                self.shared(pool.pool),
                self.u8(pool.asset_id),
                coin or self.coin(coin_type, amount),
                self.u64(amount),
                self.shared(SANDBOX_NAVI.incentive_v2),
                self.shared(SANDBOX_NAVI.incentive_v3),
            ],
            coin_type,
        )

    def withdraw(self, coin_type: str, amount: int) -> None:
        pool = NAVI_POOLS[coin_type]
        balance = self.call(
            f"{SANDBOX_NAVI.package}::incentive_v3::withdraw_v2",
            [
                self.shared(CLOCK),
                self.shared(SANDBOX_NAVI.price_oracle),
                self.shared(SANDBOX_NAVI.storage),
                self.shared(pool.pool),
                self.u8(pool.asset_id),
                self.u64(amount),
                self.shared(SANDBOX_NAVI.incentive_v2),
                self.shared(SANDBOX_NAVI.incentive_v3),
                self.shared(SYSTEM_STATE),
            ],
            coin_type,
        )
        self.give(self.call(f"{normalize_address('0x2')}::coin::from_balance", [balance], coin_type))

    def quote(self, amount: int, *, a2b: bool, by_amount_in: bool) -> None:
        flags = [self.pure(bytes([flag])) for flag in (a2b, by_amount_in)]
        self.call(
            f"{SANDBOX_CETUS.clmm_package}::pool::calculate_swap_result",
            [self.shared(CETUS_POOL.pool), *flags, self.u64(amount)],
            CETUS_POOL.coin_a,
            CETUS_POOL.coin_b,
        )

    def open_swap(
        self,
        sold: str,
        bought: str,
        coin: Argument,
        *,
        minimum: int = 0,
        fee_rate: int = 0,
        fee_to: str = "0x0",
    ) -> ResultArg:
        return self.call(
            f"{SANDBOX_CETUS.router_package}::router::new_swap_context",
            [
                self.pure(text("quote-1")),
                self.u64(minimum),
                self.u64(minimum),
                coin,
                self.pure(uint(fee_rate, 32)),
                self.address(normalize_address(fee_to)),
            ],
            sold,
            bought,
        )

    def hop(self, context: Argument, amount: int, *, a2b: bool) -> None:
        self.call(
            f"{SANDBOX_CETUS.adapter_package}::cetus::swap",
            [
                context,
                self.shared(SANDBOX_CETUS.global_config),
                self.shared(CETUS_POOL.pool),
                self.shared(SANDBOX_CETUS.partner),
                self.pure(bytes([a2b])),
                self.u64(amount),
                self.shared(CLOCK),
            ],
            CETUS_POOL.coin_a,
            CETUS_POOL.coin_b,
        )

    def close_swap(self, context: Argument, bought: str) -> None:
        router = f"{SANDBOX_CETUS.router_package}::router"
        coin = self.call(f"{router}::confirm_swap", [context], bought)
        self.call(f"{router}::transfer_or_destroy_coin", [coin], bought)

    def swap(self, sold: str, amount: int, *, minimum: int = 0) -> None:
        """Sell a coin of the pool for the other one."""
        a2b = sold == CETUS_POOL.coin_a
        bought = CETUS_POOL.coin_b if a2b else CETUS_POOL.coin_a
        context = self.open_swap(sold, bought, self.coin(sold, amount), minimum=minimum)
        self.hop(context, amount, a2b=a2b)
        self.close_swap(context, bought)

    def run(self) -> Run:
        """Execute and record it, paid by Alice's first SUI coin."""
        ledger = self._chain.ledger
        with ledger.write():
            run = execute(ledger, self._transaction(pay=True))
            checkpoint = ledger.next_checkpoint(run.digest)
            message = bytes(executed_message(run, (), checkpoint))
            ledger.commit(checkpoint, run.digest, ALICE, message, run.written, run.deleted, run.affected)
        return run

    def abort(self) -> MoveAbort:
        """Execute it and return the Move abort that it must end with."""
        failure = self.run().effects.failure
        assert failure is not None
        assert failure.abort is not None, failure
        return failure.abort

    def read(self) -> list[Value]:
        """Inspect it and return what the last command returned, decoded by its type."""
        return [decode_pure(parse_type(name), value) for name, value in self.inspect()]

    def inspect(self) -> list[tuple[str, bytes]]:
        """Inspect it and return the last command's values: their types and their BCS."""
        data = rpc.Transaction(bcs=rpc.Bcs(value=self._transaction(pay=False).bcs()))
        checks = rpc.SimulateTransactionRequestTransactionChecks.DISABLED
        request = rpc.SimulateTransactionRequest(transaction=data, checks=checks)
        response = simulate_request(self._chain.ledger, request)
        assert response.transaction.effects.status.success, response.transaction.effects.status
        outputs = response.command_outputs[-1].return_values
        return [(output.value.name, output.value.value) for output in outputs]

    def _input(self, item: Input) -> InputArg:
        self._inputs.append(item)
        return InputArg(len(self._inputs) - 1)

    def _transaction(self, *, pay: bool) -> Transaction:
        used = {item.ref.id for item in self._inputs if isinstance(item, OwnedInput)}
        coins = [coin for coin in self._chain.ledger.coins(ALICE, SUI.coin_type) if coin.id not in used]
        payment = tuple(ObjectRef(coin.id, coin.version, coin.digest) for coin in coins[:1]) if pay else ()
        gas = Gas(payment, ALICE, 1_000, 1_000_000_000)
        return Transaction(ALICE, tuple(self._inputs), tuple(self._commands), gas)


@pytest.fixture
def chain() -> Iterator[Chain]:
    opened = Chain()
    for _ in range(2):  # one coin pays for gas while the other is used
        opened.fund(SUI.coin_type, 1_000 * 10**9)
    opened.fund(USDC.coin_type, 100_000 * 10**6)
    yield opened
    opened.ledger.close()
