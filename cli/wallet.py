"""tidegate wallet: keys of this user."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.flags import NetworkFlag, OutputFlag, ProfileFlag
from tidegate.cli.output import is_terminal
from tidegate.cli.rows import show_row, show_rows
from tidegate.cli.session import opened
from tidegate.core.errors import PassphraseNeeded, UsageError, WalletMissing

if TYPE_CHECKING:
    from tidegate.cli.output import Console
    from tidegate.core.chain.wallet import KeyInfo
    from tidegate.core.events import JsonObject
    from tidegate.core.runtime import Runtime

_MOST_BYTES = 64 * 1024
"""What is read of stdin at most; a key has less than a hundred."""

wallet = typer.Typer(
    name="wallet",
    help="Make, import and show the keys of wallets.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

NameArgument = Annotated[
    str | None, typer.Argument(metavar="NAME", help="The key's name; by default the one in use.")
]


@wallet.command("new")
def new_wallet(
    name: NameArgument = None,
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """Make a new key.

    Its passphrase is TIDEGATE_PASSPHRASE, or is asked for on a terminal. Real money needs one.
    """
    with opened({"network": network, "profile": profile, "output": output}) as (runtime, to):
        chosen = name or runtime.settings.wallet_name
        info = runtime.keystore().create(chosen, passphrase=_new_passphrase(runtime))
        _show_added(runtime, to, info)


@wallet.command("import")
def import_wallet(
    name: NameArgument = None,
    sui_keystore: Annotated[
        Path | None,
        typer.Option("--sui-keystore", metavar="FILE", help="Take the key from this sui.keystore file."),
    ] = None,
    address: Annotated[
        str | None, typer.Option("--address", metavar="ADDRESS", help="Which key of the file to take.")
    ] = None,
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """Store a key that exists already: suiprivkey1…, read from stdin or asked for on a terminal.

    Example: tidegate wallet import savings < key.txt
    """
    from tidegate.core.chain.wallet import read_sui_keystore

    if address is not None and sui_keystore is None:
        raise UsageError("--address chooses a key of a file.", hint="Give --sui-keystore FILE too.")
    with opened({"network": network, "profile": profile, "output": output}) as (runtime, to):
        chosen = name or runtime.settings.wallet_name
        secret = _read_secret() if sui_keystore is None else read_sui_keystore(sui_keystore, address)
        info = runtime.keystore().import_key(chosen, secret, _new_passphrase(runtime))
        _show_added(runtime, to, info)


@wallet.command("address")
def show_address(
    name: NameArgument = None,
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """Show a wallet's address.

    Example: tidegate wallet address | jq -r .address
    """
    with opened({"network": network, "profile": profile, "output": output}) as (runtime, to):
        address = runtime.address() if name is None else runtime.keystore().info(name).address
        if address is None:
            raise WalletMissing(f"There is no key called {runtime.settings.wallet_name}.")
        if name is None and runtime.secrets.private_key is None:
            name = runtime.settings.wallet_name
        show_row(to, {"name": name, "address": address}, address)


@wallet.command("list")
def list_wallets(network: NetworkFlag = None, profile: ProfileFlag = None, output: OutputFlag = None) -> None:
    """List the stored keys."""
    with opened({"network": network, "profile": profile, "output": output}) as (runtime, to):
        rows = [_row(runtime, info) for info in runtime.keystore().list()]
        columns = ("name", "address", "scheme", "encrypted", "in_use")
        show_rows(to, rows, columns, empty="There is no key yet. `tidegate wallet new` makes one.")


@wallet.command("export")
def export_wallet(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The key's name.")],
    reveal: Annotated[bool, typer.Option("--reveal", help="Yes, show the private key.")] = False,
    profile: ProfileFlag = None,
) -> None:
    """Print a private key, suiprivkey1…, and nothing else. Whoever sees it owns what the wallet owns."""
    if not reveal:
        raise UsageError(
            "This prints the private key: whoever sees it owns what the wallet owns.",
            hint="Add --reveal if nobody looks on and the output goes where it should.",
        )
    with opened({"profile": profile}) as (runtime, to):
        encrypted = runtime.keystore().info(name).encrypted
        text = runtime.keystore().export(name, _passphrase(runtime) if encrypted else None)
        to.out.write(f"{text}\n")


def _passphrase(runtime: Runtime) -> str | None:
    """Return the passphrase of a key that is encrypted, or None if there is nobody to ask."""
    given = runtime.secrets.passphrase
    if given is not None:
        return given.get_secret_value()
    return _ask_hidden("Passphrase") if is_terminal(sys.stdin) else None


def _new_passphrase(runtime: Runtime) -> str | None:
    """Return the passphrase for a key that is to be stored; None stores it in the open.

    Raises:
        PassphraseNeeded: there must be one, and there is nobody to ask.
    """
    from tidegate.core.chain.wallet import passphrase_required

    given, network = runtime.secrets.passphrase, runtime.settings.network
    if given is not None:
        return given.get_secret_value()
    required = passphrase_required(network)
    if is_terminal(sys.stdin):
        question = "Passphrase" if required else "Passphrase (empty for none)"
        typed = _ask_hidden(question, repeat="The same again")
        return typed if typed or required else None
    if required:
        raise PassphraseNeeded(f"A key for {network} has to be encrypted, and there is no passphrase.")
    return None


def _read_secret() -> str:
    """Return the key a person or a pipe gives; never from the command line, which others can see.

    Raises:
        UsageError: stdin is closed.
    """
    if is_terminal(sys.stdin):
        return _ask_hidden("Private key (suiprivkey1…)")
    if sys.stdin is None:
        raise UsageError("The key is read from stdin, which is closed.", hint="Pipe the key in.")
    return sys.stdin.buffer.read(_MOST_BYTES).decode("utf-8", "replace")


def _ask_hidden(question: str, *, repeat: str | None = None) -> str:
    """Ask on the terminal without showing what is typed, twice if `repeat` says how."""
    return str(
        typer.prompt(
            question,
            default="",
            show_default=False,
            hide_input=True,
            confirmation_prompt=repeat or False,
            err=True,
        )
    )


def _show_added(runtime: Runtime, to: Console, info: KeyInfo) -> None:
    show_row(to, _row(runtime, info))
    if not info.encrypted:
        to.notices.write("The key is not encrypted: only the mode of its file protects it.\n")
    if runtime.secrets.private_key is not None:
        to.notices.write("TIDEGATE_PRIVATE_KEY is set, and is what signs as long as it is.\n")
    elif info.name != runtime.settings.wallet_name:
        to.notices.write(f"To use it: tidegate config set wallet {info.name}\n")


def _row(runtime: Runtime, info: KeyInfo) -> JsonObject:
    signs = runtime.secrets.private_key is None and info.name == runtime.settings.wallet_name
    return {
        "name": info.name,
        "address": info.address,
        "scheme": info.scheme,
        "encrypted": info.encrypted,
        "in_use": signs,
    }
