"""tidegate sandbox: the embedded network, and what can be done to it from outside."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.flags import NetworkFlag, OutputFlag, ProfileFlag
from tidegate.cli.output import is_terminal
from tidegate.cli.rows import show_row, show_rows, shown
from tidegate.cli.session import opened
from tidegate.core.clock import iso_ms
from tidegate.core.errors import (
    BadAddress,
    BadAmount,
    Denied,
    StoreError,
    UnknownToken,
    UsageError,
    WalletMissing,
)

if TYPE_CHECKING:
    from tidegate.cli.output import Console
    from tidegate.core.money import Amount
    from tidegate.core.runtime import Runtime
    from tidegate.core.sandbox.ledger import Ledger
    from tidegate.core.tokens import Token

_UNIT_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_END_OF_TIME_MS = 253_402_300_800_000
"""The year 10000, which no timestamp can name."""

sandbox = typer.Typer(
    name="sandbox",
    help="Control the Sui network inside this package: play money, time, prices, faults.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@sandbox.command("faucet")
def faucet_coins(
    address: Annotated[
        str | None, typer.Argument(metavar="ADDRESS", help="Who gets it; by default the sandbox's wallet.")
    ] = None,
    amount: Annotated[
        str | None, typer.Argument(metavar="AMOUNT", help="How much; 100 if not given.")
    ] = None,
    token: Annotated[str, typer.Option("--token", metavar="SYMBOL", help="SUI, USDC, …")] = "SUI",
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """Mint play money.

    Example: tidegate sandbox faucet 250 --token USDC
    """
    from tidegate.core.sandbox.controls import faucet
    from tidegate.core.tokens import normalize_address

    if amount is None and address is not None and not address.lower().startswith("0x"):
        address, amount = None, address
    with opened(_flags(network, profile, output)) as (runtime, to), _ledger(runtime, to) as ledger:
        minted = _amount("100" if amount is None else amount, _token(token))
        try:
            recipient = _own_address(runtime) if address is None else normalize_address(address)
        except ValueError:
            raise BadAddress(
                f"{(address or '')[:80]!r} is not a Sui address.", hint="It is 0x and up to 64 hex digits."
            ) from None
        digest = faucet(ledger, recipient, minted.token.coin_type, minted.base)
        show_row(
            to,
            {
                "address": recipient,
                "token": minted.token.symbol,
                "coin_type": minted.token.coin_type,
                "amount": minted.value,
                "digest": digest,
            },
            f"{minted} for {recipient}",
        )


@sandbox.command("reset")
def reset_sandbox(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """Forget every coin, position and transaction of the sandbox; wallets are funded anew when next used.

    Sessions, the journal and keys stay.
    """
    with opened(_flags(network, profile, output)) as (runtime, to):
        if not yes:
            if not is_terminal(sys.stdin):
                raise UsageError(
                    "This forgets the whole sandbox network.", hint="Add --yes if that is meant."
                )
            if not typer.confirm("Forget the whole sandbox network?", err=True):
                raise Denied("The sandbox stays as it is.")
        with _ledger(runtime, to) as ledger:
            ledger.reset()
            now = iso_ms(ledger.now_ms)
        show_row(to, {"reset": True, "now": now}, "The sandbox begins again.")


@sandbox.command("serve")
def serve(
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="N", help="TCP port; 0 is any free one.")
    ] = 0,
    memory: Annotated[
        bool, typer.Option("--memory", help="A new network that is kept in memory and ends with the command.")
    ] = False,
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """Serve the sandbox on loopback for other programs, until Ctrl-C or SIGTERM.

    Prints one line when it is ready. Then, elsewhere: tidegate ask balance --network URL
    """
    from tidegate.core.chain.network import serve_sandbox
    from tidegate.core.sandbox.genesis import SANDBOX_CHAIN_ID

    with opened(_flags("sandbox", profile, output)) as (runtime, to):
        try:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            state_dir = None if memory else runtime.paths.state_dir
            with closing(serve_sandbox(state_dir, runtime.clock, port)) as standing:
                row = {"url": standing.url, "chain_id": SANDBOX_CHAIN_ID}
                show_row(to, dict(row), f"The sandbox serves. Use it with --network {standing.url}")
                standing.wait()
        except KeyboardInterrupt:
            return


@sandbox.command("clock")
def clock(
    by: Annotated[
        str | None, typer.Argument(metavar="+DURATION|show", help="How far forward, such as +90s or +1d12h.")
    ] = None,
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """Show the sandbox's time, or move it forward, so that interest accrues and epochs pass.

    Example: tidegate sandbox clock +7d
    """
    from tidegate.core.sandbox.controls import advance_clock

    with opened(_flags(network, profile, output)) as (runtime, to), _ledger(runtime, to) as ledger:
        if by is not None and by != "show":
            ms = _duration_ms(by)
            if ledger.now_ms + ms >= _END_OF_TIME_MS:
                raise UsageError("That is after the year 9999.", hint="Move the clock less far.")
            advance_clock(ledger, ms)
        now = iso_ms(ledger.now_ms)
        epoch = ledger.epoch
        show_row(to, {"now": now, "epoch": epoch}, f"{now}, epoch {epoch}")


@sandbox.command("price")
def price(
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="A symbol or a full coin type.")],
    usd: Annotated[str, typer.Argument(metavar="USD", help="Price of one whole coin.")],
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """Set what a coin is worth; pools that trade it follow.

    Example: tidegate sandbox price SUI 3.10
    """
    from tidegate.core.sandbox.controls import set_price
    from tidegate.core.sandbox.genesis import PRICE_SCALE

    with opened(_flags(network, profile, output)) as (runtime, to), _ledger(runtime, to) as ledger:
        priced = _token(token)
        set_price(ledger, priced.coin_type, _number(usd))
        kept = ledger.price(priced.coin_type)
        dollars = None if kept is None else Decimal(kept) / PRICE_SCALE
        show_row(
            to,
            {"token": priced.symbol, "coin_type": priced.coin_type, "usd": dollars},
            f"1 {priced.symbol} = {shown(dollars)} USD",
        )


@sandbox.command("fault")
def fault(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="drop-response, unavailable, abort, delay or lag."),
    ] = None,
    value: Annotated[
        int,
        typer.Argument(
            min=0, max=10**9, metavar="N", help="How many executions it strikes; for delay and lag, ms."
        ),
    ] = 1,
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """Make the network misbehave for every program that uses it; 0 ends it. Without a name, show what is on.

    Example: tidegate sandbox fault drop-response 1
    """
    from tidegate.core.sandbox.controls import set_fault
    from tidegate.core.sandbox.ledger import Fault

    known = {kind.value: kind for kind in Fault}
    if name is not None and name not in known:
        raise UsageError(f"There is no fault called {name[:40]!r}.", hint=f"Known: {', '.join(known)}.")
    with opened(_flags(network, profile, output)) as (runtime, to), _ledger(runtime, to) as ledger:
        if name is not None:
            set_fault(ledger, name, value)
        asked = [kind for kind in Fault if name in (None, kind.value)]
        show_rows(
            to,
            [{"fault": kind.value, "value": ledger.fault(kind)} for kind in asked],
            ("fault", "value"),
            empty="There are no faults.",
        )


def _flags(network: str | None, profile: str | None, output: str | None) -> dict[str, str | None]:
    return {"network": network, "profile": profile, "output": output}


@contextmanager
def _ledger(runtime: Runtime, to: Console) -> Iterator[Ledger]:
    """Yield the ledger of the sandbox on this machine, whatever network the settings name.

    Raises:
        StoreError: its file cannot be used.
        UsageError: what was asked of it is nothing it can do.
    """
    import sqlite3

    from tidegate.core.chain.network import open_sandbox_ledger

    if runtime.settings.network != "sandbox":
        to.notices.write(
            f"This is about the sandbox on this machine, not about {runtime.settings.network}.\n"
        )
    with closing(open_sandbox_ledger(runtime.paths.state_dir, runtime.clock)) as ledger:
        try:
            yield ledger
        except sqlite3.Error as error:
            raise StoreError(
                f"The sandbox's ledger {runtime.paths.sandbox_file} cannot be used: {error}.",
                hint="Try again; if it stays so, delete the file to begin a new sandbox network.",
            ) from error
        except ValueError as error:
            raise UsageError(f"The sandbox refuses: {error}.", hint="Nothing was changed.") from error


def _own_address(runtime: Runtime) -> str:
    address = runtime.address()
    if address is None:
        raise WalletMissing(f"There is no key called {runtime.settings.wallet_name}.")
    return address


def _token(word: str) -> Token:
    from tidegate.core.tokens import KNOWN_TOKENS, token_by_symbol, token_by_type

    token = token_by_symbol(word) or token_by_type(word)
    if token is None:
        names = ", ".join(known.symbol for known in KNOWN_TOKENS)
        raise UnknownToken(f"The sandbox has no coin {word[:80]!r}.", hint=f"Known: {names}.")
    return token


def _amount(text: str, token: Token) -> Amount:
    from tidegate.core.money import Amount

    return Amount.of(token, _number(text))


def _number(text: str) -> Decimal:
    from tidegate.core.money import Exactly, parse_quantity

    quantity = parse_quantity(text)
    if not isinstance(quantity, Exactly):
        raise BadAmount(f"{text[:40]!r} is a share, and there is nothing to share.", hint="Give a number.")
    return quantity.value


def _duration_ms(text: str) -> int:
    """Return milliseconds of ``+90s``, ``+30m``, ``+12h``, ``+7d``, ``+2w`` or several in a row.

    Raises:
        UsageError: it is none of these.
    """
    parts = re.findall(r"([0-9]{1,9})([smhdw])", text)
    if not parts or text.removeprefix("+") != "".join(number + unit for number, unit in parts):
        raise UsageError(
            f"{text[:40]!r} is not a duration.",
            hint="Write it like +90s, +30m, +12h, +7d or +1d12h; the clock only moves forward.",
        )
    return sum(int(number) * _UNIT_MS[unit] for number, unit in parts)
