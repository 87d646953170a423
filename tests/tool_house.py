"""What tools run on, over a real sandbox; and ways to bring it into states its modules never reach."""

from __future__ import annotations

import base64
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from tidegate.core.chain import navi
from tidegate.core.chain.client import SuiNetwork
from tidegate.core.chain.deployments import SANDBOX_NAVI
from tidegate.core.chain.keys import key_pair_from_text, signer_of
from tidegate.core.chain.network import open_network, open_sandbox_ledger
from tidegate.core.chain.prices import OnChainPrices
from tidegate.core.chain.token_book import TokenBook
from tidegate.core.chain.types import Build, Outcome, Signer
from tidegate.core.clock import Clock
from tidegate.core.money import Amount
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.genesis import GENESIS_TRANSACTION, GENESIS_VERSION, coin_metadata_id
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.sandbox.movetypes import parse_type
from tidegate.core.sandbox.objects import (
    IMMUTABLE,
    CoinDescription,
    StoredObject,
    coin_metadata_contents,
    state_text,
)
from tidegate.core.store.base import Contact, Contacts, Store
from tidegate.core.store.open import open_store
from tidegate.core.tokens import SUI, USDC, Token
from tidegate.core.tools.base import Intent, ToolContext, ToolInput, WriteTool
from tidegate.core.tools.registry import parse_input, tool_by_name

START_MS = 1_800_000_000_000
DAY_MS = 24 * 60 * 60 * 1000
STRANGER = "0x" + "77" * 32

SUI_100 = 100 * 10**9
USDC_1000 = 1_000 * 10**6

_KEY = base64.b64encode(bytes([0] + [7] * 32)).decode()
"""An Ed25519 key as sui.keystore has it."""

NAVI_POOLS = {pool.coin_type: pool for pool in SANDBOX_NAVI.pools}


@dataclass
class House:
    """A wallet with 100 SUI and 1,000 USDC, its contacts, and the network it is on."""

    network: SuiNetwork
    ledger: Ledger
    store: Store
    signer: Signer
    now_ms: int = START_MS
    wallet: str = field(init=False)
    tokens: TokenBook = field(init=False)

    def __post_init__(self) -> None:
        self.wallet = self.signer.address
        self.tokens = TokenBook(self.network)
        grants = {SUI.coin_type: SUI_100, USDC.coin_type: USDC_1000}
        controls.fund_once(self.ledger, self.wallet, grants)

    @property
    def clock(self) -> Clock:
        return Clock(now_ms=lambda: self.now_ms, monotonic=lambda: self.now_ms / 1000)

    @property
    def contacts(self) -> Contacts:
        return self.store.contacts

    def context(self, **changes: Any) -> ToolContext:
        """Return what a tool is given at the start of a turn: nothing of earlier turns is remembered."""
        whole = ToolContext(
            network=lambda: self.network,
            tokens=lambda: self.tokens,
            prices=lambda: OnChainPrices(self.network, self.clock),
            wallet=self.wallet,
            contacts=self.contacts,
            clock=self.clock,
        )
        return replace(whole, **changes)

    def befriend(self, name: str, address: str) -> None:
        """Save a contact."""
        self.contacts.save(Contact(name, address), self.now_ms)

    def holding(self, token: Token, address: str | None = None) -> int:
        """Return an address's base units; the wallet's if none is named."""
        return self.ledger.balances(address or self.wallet).get(token.coin_type, 0)

    def carry_out(self, build: Build) -> Outcome:
        """Draft, sign and execute a transaction of the wallet's."""
        draft = self.network.draft(self.wallet, build)
        assert draft.outcome.failure is None, draft.outcome.failure
        return self.network.execute(draft.bytes, self.signer.sign(draft.bytes))


def open_house(folder: Path, stack: ExitStack) -> House:
    """Return a house in a folder of its own; `stack` closes it."""
    house: list[House] = []
    # The ledger's clock is the house's own, which is only made once the network is there.
    clock = Clock(now_ms=lambda: house[0].now_ms if house else START_MS, monotonic=lambda: 0.0)
    ledger = open_sandbox_ledger(folder / "state", clock)
    stack.callback(ledger.close)
    network = open_network("sandbox", state_dir=folder / "state", clock=clock)
    stack.callback(network.close)
    store = open_store(folder / "store" / "tidegate.db")
    stack.callback(store.close)
    assert isinstance(network, SuiNetwork)
    house.append(House(network, ledger, store, signer_of(key_pair_from_text(_KEY))))
    return house[0]


def write_tool(name: str) -> WriteTool[ToolInput]:
    return cast("WriteTool[ToolInput]", tool_by_name(name))


def prepare(house: House, name: str, context: ToolContext | None = None, **fields: Any) -> Intent:
    """Return the write that a tool makes of these fields."""
    tool = write_tool(name)
    return tool.prepare(parse_input(tool, fields), context or house.context())


def save(house: House, amount: Amount) -> None:
    """Deposit an amount of the wallet's into NAVI."""
    house.carry_out(lambda ptb: navi.deposit(house.network, ptb, amount))


def carry_out_as_announced(house: House, intent: Intent) -> None:
    """Execute a write and check that it changes what it announced and nothing else."""
    outcome = house.carry_out(intent.build)
    for each in intent.expected:
        gas = outcome.gas.net if (each.address, each.token) == (house.wallet, SUI) else 0
        change = gas + sum(
            delta.base
            for delta in outcome.changes
            if (delta.address, delta.coin_type) == (each.address, each.token.coin_type)
        )
        assert each.low <= change <= each.high
    announced = {(each.address, each.token.coin_type) for each in intent.expected}
    gas_only = {(house.wallet, SUI.coin_type)}
    assert {(delta.address, delta.coin_type) for delta in outcome.changes} <= announced | gas_only


def rewrite(ledger: Ledger, object_id: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Change what a protocol's object holds, without any transaction."""
    with ledger.write():
        item = ledger.get_object(object_id)
        assert item is not None
        state: dict[str, Any] = item.decoded_state()
        change(state)
        following = item.next_version(item.version + 1, item.previous_transaction)
        ledger._put(following.with_state(state_text(state)))


def change_reserve(ledger: Ledger, token: Token, change: Callable[[dict[str, Any]], None]) -> None:
    """Change NAVI's reserve of a token."""
    asset = str(NAVI_POOLS[token.coin_type].asset_id)
    rewrite(ledger, SANDBOX_NAVI.storage, lambda state: change(state["reserves"][asset]))


def lend_to(ledger: Ledger, borrower: str, token: Token, market_amount: int) -> None:
    """Give an account a debt, which no transaction of the sandbox makes.

    Args:
        ledger: The network.
        borrower: Who owes it.
        token: What is owed.
        market_amount: With nine decimals, whatever the token has.
    """
    asset = NAVI_POOLS[token.coin_type].asset_id

    def change(state: dict[str, Any]) -> None:
        debts = state["reserves"][str(asset)]["borrow_balance"]
        debts["user_state"][borrower] = debts["user_state"].get(borrower, 0) + market_amount
        debts["total_supply"] += market_amount
        info = state["user_info"].setdefault(borrower, {"collaterals": [], "loans": []})
        info["loans"].append(asset)

    rewrite(ledger, SANDBOX_NAVI.storage, change)


def describe_coin(ledger: Ledger, coin_type: str, symbol: str, decimals: int) -> None:
    """Let the chain say something else of a coin, or anything at all of a new one."""
    object_id = coin_metadata_id(coin_type)
    known = ledger.get_object(object_id)
    contents = coin_metadata_contents(object_id, CoinDescription(decimals, symbol, symbol, ""))
    metadata = StoredObject(
        object_id,
        GENESIS_VERSION if known is None else known.version + 1,
        parse_type(f"0x2::coin::CoinMetadata<{coin_type}>"),
        IMMUTABLE,
        contents,
        GENESIS_TRANSACTION,
    )
    with ledger.write():
        ledger._put(metadata)


def forget_coin(ledger: Ledger, coin_type: str) -> None:
    """Take a coin's metadata off the chain; coins of it stay."""
    with ledger.write():
        ledger._db.run("UPDATE latest SET live = 0 WHERE id = ?", (coin_metadata_id(coin_type),))
