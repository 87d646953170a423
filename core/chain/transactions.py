"""Builds programmable transactions: records their commands, and chooses the coins that they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tidegate.core.chain.move_types import parse_move_type
from tidegate.core.chain.transaction_data import Input, Reference, SharedInput, call_arg, type_tag
from tidegate.core.chain.types import Argument, CoinObject
from tidegate.core.errors import InsufficientBalance
from tidegate.core.money import Amount
from tidegate.core.tokens import SUI, normalize_address

if TYPE_CHECKING:
    from pysui.sui.sui_bcs import bcs

MAX_GAS_COINS = 256
"""Coins that may pay for gas together (protocol limit)."""

MAX_GAS_BUDGET = 50_000_000_000
"""MIST; the protocol's upper limit of a gas budget."""

MIN_GAS_UNITS = 1_000
"""Computation units of the cheapest transaction."""

GAS_ALLOWANCE = 100_000_000
"""MIST set aside for gas before a simulation has said what it costs: 0.1 SUI, far above a usual write."""

_OVERHEAD_UNITS = 1_000
_MAX_MERGED_COINS = 1_000
_MERGE_CHUNK = 500


PureKind = Literal["u8", "u32", "u64", "bool", "address", "string"]


@dataclass(slots=True)
class _Purse:
    """Coins of one type, and the one that others were merged into."""

    unused: list[CoinObject]
    """Largest first."""
    open: bcs.Argument | None = None
    left: int = 0
    """Base units in the open coin."""
    merged: int = 0


class PtbBuilder:
    """Records the commands of one transaction; implements `types.Ptb`.

    Args:
        sender: Whose transaction it is.
        sui_coins: All SUI coins of the sender.
        list_coins: Returns all coins of the sender of a coin type; called once a type, when first needed.
    """

    def __init__(
        self,
        sender: str,
        sui_coins: Sequence[CoinObject],
        list_coins: Callable[[str], Sequence[CoinObject]],
    ) -> None:
        self._sender = normalize_address(sender)
        self._list_coins = list_coins
        self._purses: dict[str, _Purse] = {}
        self._inputs: list[Input] = []
        self._pure: dict[tuple[PureKind, bytes], int] = {}
        self._shared: dict[str, int] = {}
        self._commands: list[bcs.Command] = []
        self.gas_coins = tuple(largest_first(sui_coins)[:MAX_GAS_COINS])
        """Coins that can pay for gas, largest first."""
        self._dust = largest_first(sui_coins)[MAX_GAS_COINS:]
        self.merged_into_gas = 0
        """MIST that commands merge into the gas coin."""
        self.spent_from_gas = 0
        """MIST that commands take from the gas coin."""

    @property
    def sender(self) -> str:
        """Whose transaction it is."""
        return self._sender

    @property
    def gas_held(self) -> int:
        """MIST in the coins that can pay for gas and in what is merged into them."""
        return total(self.gas_coins) + self.merged_into_gas

    @property
    def shared_ids(self) -> tuple[str, ...]:
        """Ids of the shared and immutable objects, in the order of first use."""
        return tuple(self._shared)

    def coin(self, amount: Amount) -> Argument:
        """Return a coin of exactly `amount`.

        SUI is split from the gas coin. Other coins are taken largest first until they suffice, merged and
        split; a coin of just the right size is used whole.

        Raises:
            InsufficientBalance: the sender's coins hold less.
        """
        if amount.token.coin_type == SUI.coin_type:
            return self._sui(amount)
        purse = self._purse(amount.token.coin_type)
        exact = next((coin for coin in purse.unused if coin.base == amount.base), None)
        if purse.left < amount.base and exact is not None:
            purse.unused.remove(exact)
            return Argument(self._input(exact))
        if not amount.base:
            return self.call("0x2::coin::zero", (), (amount.token.coin_type,))[0]
        self._fill(purse, amount)
        assert purse.open is not None
        purse.left -= amount.base
        if not purse.left:
            whole, purse.open = purse.open, None
            return Argument(whole)
        return self._split(purse.open, amount.base)

    def pure_u8(self, value: int) -> Argument:
        """Return a u8."""
        return self._number("u8", value, 1)

    def pure_u32(self, value: int) -> Argument:
        """Return a u32."""
        return self._number("u32", value, 4)

    def pure_u64(self, value: int) -> Argument:
        """Return a u64."""
        return self._number("u64", value, 8)

    def pure_bool(self, value: bool) -> Argument:
        """Return a bool."""
        return self._number("bool", int(value), 1)

    def pure_address(self, address: str) -> Argument:
        """Return an address."""
        return self._value("address", bytes.fromhex(normalize_address(address)[2:]))

    def pure_string(self, text: str) -> Argument:
        """Return a string: its UTF-8 bytes after their number."""
        encoded = text.encode()
        return self._value("string", _uleb128(len(encoded)) + encoded)

    def shared(self, object_id: str, *, mutable: bool) -> Argument:
        """Return a shared or immutable object; used twice, it is mutable if either use is."""
        object_id = normalize_address(object_id)
        index = self._shared.get(object_id)
        if index is None:
            index = self._shared[object_id] = len(self._inputs)
            self._inputs.append(SharedInput(object_id, mutable))
        else:
            known = self._inputs[index]
            assert isinstance(known, SharedInput)
            known.mutable = known.mutable or mutable
        return Argument(_argument("Input", index))

    def call(
        self,
        target: str,
        arguments: Sequence[Argument],
        type_arguments: Sequence[str] = (),
        results: int = 1,
    ) -> tuple[Argument, ...]:
        """Call a Move function.

        Args:
            target: ``package::module::function``.
            arguments: In the function's order, without the transaction context.
            type_arguments: Move types as text.
            results: How many values it returns.

        Raises:
            ValueError: the target or a type cannot be read.
        """
        from pysui.sui.sui_bcs import bcs

        package, module, function = parse_move_type(target).parts
        made = bcs.ProgrammableMoveCall(
            bcs.Address.from_str(package),
            module,
            function,
            [type_tag(parse_move_type(text)) for text in type_arguments],
            [each.handle for each in arguments],
        )
        command = self._command("MoveCall", made)
        return tuple(Argument(_argument("NestedResult", (command, index))) for index in range(results))

    def transfer(self, objects: Sequence[Argument], recipient: str) -> None:
        """Give objects to an address."""
        from pysui.sui.sui_bcs import bcs

        to = self.pure_address(recipient).handle
        self._command("TransferObjects", bcs.TransferObjects([each.handle for each in objects], to))

    def kind(self, references: Mapping[str, Reference]) -> bcs.TransactionKind:
        """Return the recorded transaction.

        Args:
            references: What each of `shared_ids` is on the network.
        """
        from pysui.sui.sui_bcs import bcs

        inputs = [call_arg(item, references) for item in self._inputs]
        programmable = bcs.ProgrammableTransaction(inputs, list(self._commands))
        return bcs.TransactionKind("ProgrammableTransaction", programmable)

    # Inside

    def _sui(self, amount: Amount) -> Argument:
        from pysui.sui.sui_bcs import bcs

        wanted = self.spent_from_gas + amount.base
        extra: list[CoinObject] = []
        # More coins than may pay for gas can still be spent: what is missing is merged into the gas coin.
        while self._dust and self.gas_held + total(extra) < wanted + GAS_ALLOWANCE:
            extra.append(self._dust.pop(0))
        if self.gas_held + total(extra) < wanted:
            raise _insufficient(Amount(SUI, self.gas_held + total(extra)), Amount(SUI, wanted))
        gas = bcs.Argument("GasCoin")
        self._merge(gas, extra)
        self.merged_into_gas += total(extra)
        self.spent_from_gas = wanted
        return self._split(gas, amount.base)

    def _purse(self, coin_type: str) -> _Purse:
        if coin_type not in self._purses:
            self._purses[coin_type] = _Purse(largest_first(self._list_coins(coin_type)))
        return self._purses[coin_type]

    def _fill(self, purse: _Purse, amount: Amount) -> None:
        """Merge coins, the largest first, until the open one holds the amount."""
        taken: list[CoinObject] = []
        while purse.left + total(taken) < amount.base and purse.unused:
            taken.append(purse.unused.pop(0))
        held = purse.left + total(taken)
        if held < amount.base:
            raise _insufficient(Amount(amount.token, held), amount)
        purse.merged += len(taken)
        if purse.merged > _MAX_MERGED_COINS:
            raise InsufficientBalance(
                f"{amount} are spread over more than {_MAX_MERGED_COINS} coin objects, which one transaction "
                "cannot take.",
                hint="Send a smaller amount to yourself first, which joins the coins.",
            )
        arguments = list(taken)
        if purse.open is None:
            purse.open = self._input(arguments.pop(0))
        self._merge(purse.open, arguments)
        purse.left = held

    def _merge(self, target: bcs.Argument, coins: Sequence[CoinObject]) -> None:
        from pysui.sui.sui_bcs import bcs

        for start in range(0, len(coins), _MERGE_CHUNK):
            sources = [self._input(coin) for coin in coins[start : start + _MERGE_CHUNK]]
            self._command("MergeCoins", bcs.MergeCoins(target, sources))

    def _split(self, coin: bcs.Argument, base: int) -> Argument:
        from pysui.sui.sui_bcs import bcs

        command = self._command("SplitCoin", bcs.SplitCoin(coin, [self.pure_u64(base).handle]))
        return Argument(_argument("NestedResult", (command, 0)))

    def _command(self, name: str, body: object) -> int:
        from pysui.sui.sui_bcs import bcs

        self._commands.append(bcs.Command(name, body))
        return len(self._commands) - 1

    def _input(self, item: CoinObject) -> bcs.Argument:
        self._inputs.append(item)
        return _argument("Input", len(self._inputs) - 1)

    def _number(self, kind: PureKind, value: int, size: int) -> Argument:
        if not 0 <= value < 1 << 8 * size:
            raise ValueError(f"{value} does not fit in {kind}")
        return self._value(kind, value.to_bytes(size, "little"))

    def _value(self, kind: PureKind, encoded: bytes) -> Argument:
        index = self._pure.get((kind, encoded))
        if index is None:
            index = self._pure[kind, encoded] = len(self._inputs)
            self._inputs.append(encoded)
        return Argument(_argument("Input", index))


def gas_budget(computation: int, storage: int, price: int) -> int:
    """Return a budget in MIST for a transaction whose simulation cost this much.

    As pysui and the other SDKs do, 1,000 units are added and the storage rebate is not counted on.
    """
    return min(MAX_GAS_BUDGET, computation + storage + _OVERHEAD_UNITS * price)


def fewest(coins: Sequence[CoinObject], wanted: int) -> tuple[CoinObject, ...]:
    """Return the fewest coins that hold `wanted`, or all of them if they hold less.

    Args:
        coins: Largest first.
        wanted: Base units.
    """
    held = 0
    for count, coin in enumerate(coins, 1):
        held += coin.base
        if held >= wanted:
            return tuple(coins[:count])
    return tuple(coins)


def largest_first(coins: Sequence[CoinObject]) -> list[CoinObject]:
    """Return coins by falling size; equal ones by id, so that a choice among them can be repeated."""
    return sorted(coins, key=lambda coin: (-coin.base, coin.object_id))


def total(coins: Sequence[CoinObject]) -> int:
    """Return the base units in coins."""
    return sum(coin.base for coin in coins)


def _insufficient(held: Amount, wanted: Amount) -> InsufficientBalance:
    return InsufficientBalance(
        f"The wallet's coins hold {held}, and this takes {wanted}.",
        hint=f"Use a smaller amount, or add {wanted.token.symbol} to the wallet.",
    )


def _argument(name: str, value: object) -> bcs.Argument:
    from pysui.sui.sui_bcs import bcs

    return bcs.Argument(name, value)


def _uleb128(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
