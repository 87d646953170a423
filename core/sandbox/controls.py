"""What people and tests may do to the sandbox from outside: mint, move time, set prices, break it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import ROUND_DOWN, Decimal

from tidegate.core.sandbox.effects import Effects, Events, ObjectChange
from tidegate.core.sandbox.encoding import derived_id, uint
from tidegate.core.sandbox.executor import Run
from tidegate.core.sandbox.gas import GasUsed
from tidegate.core.sandbox.genesis import GENESIS_TRANSACTION, PRICE_SCALE
from tidegate.core.sandbox.ledger import Fault, Ledger
from tidegate.core.sandbox.messages import executed_message
from tidegate.core.sandbox.modules import cetus, registry
from tidegate.core.sandbox.movetypes import coin_of, parse_type
from tidegate.core.sandbox.objects import StoredObject, coin_contents, owned_by, state_text
from tidegate.core.sandbox.transactions import (
    Gas,
    InputArg,
    MoveCall,
    PureInput,
    SharedInput,
    Transaction,
    transaction_digest,
)
from tidegate.core.tokens import normalize_address, normalize_coin_type

_SYSTEM = normalize_address("0x0")
_MAX_SUPPLY = 2**63
"""Most base units the faucet mints of one coin, so that no sum over coins leaves 64 bits."""


def faucet(ledger: Ledger, address: str, coin_type: str, amount: int) -> str:
    """Mint a coin to an address, as a system transaction that the network's history shows.

    Args:
        ledger: The network.
        address: Recipient.
        coin_type: A coin type that has metadata on the network.
        amount: Base units, above zero.

    Returns:
        The digest of the transaction.

    Raises:
        ValueError: unknown coin, bad address, an amount below one, or more than the faucet ever mints.
    """
    owner, minted = normalize_address(address), normalize_coin_type(coin_type)
    if amount < 1:
        raise ValueError("the faucet gives at least one base unit")
    with ledger.write():
        if ledger.coin_description(minted) is None:
            raise ValueError(f"the sandbox has no coin {minted}")
        ledger.add_supply(minted, amount, limit=_MAX_SUPPLY)
        transaction = _mint(owner, minted, amount, ledger.count("faucet"))
        digest = transaction_digest(transaction.bcs())
        object_id = derived_id(digest, 0)
        coin = StoredObject(
            object_id, 1, coin_of(minted), owned_by(owner), coin_contents(object_id, amount), digest
        )
        _record(ledger, transaction, ObjectChange(object_id, None, coin), affected={owner})
    return digest


def _mint(owner: str, coin_type: str, amount: int, serial: int) -> Transaction:
    # The third input counts the mints: two of the same amount must differ in their digest.
    inputs = (PureInput(uint(amount, 64)), PureInput(bytes.fromhex(owner[2:])), PureInput(uint(serial, 64)))
    mint = MoveCall(
        normalize_address("0x2"),
        "coin",
        "mint_and_transfer",
        (parse_type(coin_type),),
        tuple(InputArg(index) for index in range(len(inputs))),
    )
    return Transaction(_SYSTEM, inputs, (mint,), Gas((), _SYSTEM, 0, 0))


def fund_once(ledger: Ledger, address: str, grants: Mapping[str, int]) -> bool:
    """Give a wallet its first coins: exactly once on a ledger, whoever asks and however often.

    All grants and the note that they were made are one commit, so that neither a race nor a process that dies
    midway leaves a wallet half funded or funds it twice. After a reset it is funded anew.

    Args:
        ledger: The network.
        address: The wallet.
        grants: Base units by coin type.

    Returns:
        Whether this call funded it.

    Raises:
        ValueError: as for `faucet`; then nothing was given.
    """
    note = f"funded {normalize_address(address)}"
    if ledger.is_noted(note):
        return False
    with ledger.write():
        if not ledger.note(note):
            return False
        for coin_type, base in grants.items():
            faucet(ledger, address, coin_type, base)
    return True


def _record(
    ledger: Ledger, transaction: Transaction, change: ObjectChange, *, affected: Iterable[str]
) -> None:
    """Record a system transaction that costs nothing and changes one object."""
    digest = transaction_digest(transaction.bcs())
    before, after = change.before, change.after
    effects = Effects(
        failure=None,
        epoch=ledger.epoch,
        gas=GasUsed(0, 0, 0, 0),
        transaction_digest=digest,
        gas_object=None,
        events=Events(_SYSTEM, ()),
        dependencies=(before.previous_transaction if before else GENESIS_TRANSACTION,),
        lamport_version=after.version if after else 1,
        changes=(change,),
        read_only=(),
    )
    run = Run(transaction, digest, effects, [])
    checkpoint = ledger.next_checkpoint(digest)
    message = executed_message(run, (), checkpoint)
    ledger.commit(checkpoint, digest, _SYSTEM, bytes(message), run.written, run.deleted, affected)


def advance_clock(ledger: Ledger, ms: int) -> None:
    """Move sandbox time forward, so that interest accrues and epochs pass.

    Args:
        ledger: The network.
        ms: Milliseconds, zero or more.

    Raises:
        ValueError: `ms` is negative.
    """
    ledger.advance(ms)


def set_price(ledger: Ledger, coin_type: str, price: Decimal) -> None:
    """Set what the price feed says of a coin, and move the pools that trade it to their new price.

    A pool's coins change as `cetus.recentre` says, in a system transaction that the network's history shows.

    Args:
        ledger: The network.
        coin_type: Its type.
        price: USD for one whole coin; kept to 1e-9 USD.

    Raises:
        ValueError: the price is not above zero or more than a pool can follow, or the type is none.
    """
    if not price.is_finite() or price <= 0:
        raise ValueError("a price is a positive number")
    nano_usd = int((price * PRICE_SCALE).to_integral_value(ROUND_DOWN))
    if nano_usd < 1:
        raise ValueError("a price is at least 0.000000001 USD")
    priced = normalize_coin_type(coin_type)
    with ledger.write():
        ledger.set_price(priced, nano_usd)
        for item in ledger.live_objects():
            if cetus.is_pool(str(item.type)) and priced in cetus.pool_coins(str(item.type)):
                _recentre(ledger, item)


def _recentre(ledger: Ledger, pool: StoredObject) -> None:
    pool_type = str(pool.type)
    price_a, price_b = (ledger.price(coin_type) for coin_type in cetus.pool_coins(pool_type))
    if price_a is None or price_b is None:
        return
    moved = cetus.recentre(pool_type, pool.decoded_state(), price_a, price_b).state
    if moved == pool.decoded_state():
        return
    if max(registry.vault_balances(pool_type, moved).values()) > _MAX_SUPPLY:
        raise ValueError("no pool can hold the coins that this price asks for")
    version = pool.version + 1
    inputs = (
        SharedInput(pool.id, pool.owner.initial_version, mutable=True),
        PureInput(uint(ledger.count("recentred"), 64)),
    )
    call = MoveCall(cetus.CLMM, "pool", "recentre", pool.type.params, (InputArg(0), InputArg(1)))
    transaction = Transaction(_SYSTEM, inputs, (call,), Gas((), _SYSTEM, 0, 0))
    digest = transaction_digest(transaction.bcs())
    after = pool.next_version(version, digest).with_state(state_text(moved))
    _record(ledger, transaction, ObjectChange(pool.id, pool, after), affected=())


def set_fault(ledger: Ledger, kind: str, value: int) -> None:
    """Make the network misbehave, for every process that uses it.

    Args:
        ledger: The network.
        kind: One of ``drop-response``, ``unavailable``, ``abort`` (value: how many executions it strikes),
            ``delay`` and ``lag`` (value: milliseconds, until set to 0).
        value: Zero or more; 0 turns the fault off.

    Raises:
        ValueError: unknown kind or negative value.
    """
    if value < 0:
        raise ValueError("a fault's number is zero or more")
    ledger.set_fault(Fault(kind), value)
