"""How tool inputs are read: amounts as people type them, tokens, addresses and the wallet."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, StringConstraints, WithJsonSchema

from tidegate.core.errors import BadAddress, WalletMissing
from tidegate.core.jsonlines import Json
from tidegate.core.money import plain
from tidegate.core.store.base import Contacts
from tidegate.core.tokens import normalize_address
from tidegate.core.tools.base import Tool, ToolContext

_FULL_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{64}\Z")
_ZERO = "0x" + "0" * 64


def _as_text(value: object) -> object:
    """Return a JSON number as the text a person would have typed; anything else as it is."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Decimal):
        return plain(value) if value.is_finite() else str(value)
    return value


AmountText = Annotated[
    str,
    BeforeValidator(_as_text),
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    WithJsonSchema(
        {
            "anyOf": [{"type": "number"}, {"type": "string"}],
            "description": 'Whole tokens, exact: 10, "10.5", "1,000"; or "all", "half", "50%".',
        }
    ),
]
"""An amount in whole tokens as typed; `money.parse_quantity` gives it its meaning."""

TokenText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=400),
    WithJsonSchema({"type": "string", "description": "A symbol such as USDC, or a full coin type."}),
]

AddressText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    WithJsonSchema({"type": "string", "description": "0x and 64 hex digits, or the name of a contact."}),
]


@dataclass(frozen=True, slots=True)
class Party:
    """An address, and the contact by which it is known."""

    address: str
    contact: str | None


def resolve_party(text: str, contacts: Contacts) -> Party:
    """Return whom a full address or a contact's name means.

    Raises:
        BadAddress: neither; the closest contact names are in the hint.
    """
    if _FULL_ADDRESS.match(text):
        address = normalize_address(text)
        contact = contacts.by_address(address)
        return Party(address, contact.name if contact else None)
    if text[:2].lower() == "0x":
        raise BadAddress(
            f"{_short(text)!r} is not a full Sui address.",
            hint="Write 0x and all 64 hex digits: a shortened address could be somebody else's.",
        )
    contact = contacts.get(text)
    if contact is not None:
        return Party(contact.address, contact.name)
    raise BadAddress(f"No contact is called {_short(text)!r}.", hint=_closest(text, contacts))


def account(text: str | None, context: ToolContext) -> str:
    """Return the address a read is about: the one given, else the wallet's.

    Raises:
        BadAddress: see `resolve_party`.
        WalletMissing: none was given and there is no wallet.
    """
    if text is not None:
        return resolve_party(text, context.contacts).address
    return wallet_of(context)


def wallet_of(context: ToolContext) -> str:
    """Return the wallet's address.

    Raises:
        WalletMissing: there is none.
    """
    if context.wallet is None:
        raise WalletMissing("There is no wallet for this network yet.")
    return context.wallet


def recipient_problem(address: str, context: ToolContext) -> str | None:
    """Return why nothing may be sent to an address, or None.

    Coins sent to the id of a package or an object are lost to the sender, and so are those sent to zero.
    """
    if address == _ZERO:
        return "0x0 is nobody's address: what is sent there is lost."
    if address == context.wallet:
        return "That is this wallet's own address."
    kind = context.network().object_kind(address)
    if kind == "package":
        return "That is the id of a package, not an address: what is sent there is lost."
    if kind is not None:
        return "That is the id of an object, not somebody's address."
    return None


def _closest(name: str, contacts: Contacts) -> str:
    known = [contact.name for contact in contacts.all()]
    close = difflib.get_close_matches(name[:80], known, n=3, cutoff=0.5)
    if close:
        return f"Did you mean {' or '.join(close)}?"
    if not known:
        return 'Give the full address, or save a contact first: tidegate ask "save contact NAME 0x…"'
    return f"Known contacts: {', '.join(known[:20])}."


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:80] + "…"


def typed_arguments(tool: Tool, pairs: Mapping[str, str]) -> dict[str, Json]:
    """Return fields as typed on a command line in the form the tool's input takes.

    A list is written with commas (``symbols=SUI,USDC``); everything else stays text, which pydantic reads.
    """
    schema = tool.input_model.model_json_schema(by_alias=True).get("properties", {})
    return {name: _split(value) if _is_list(schema.get(name, {})) else value for name, value in pairs.items()}


def _is_list(schema: Mapping[str, object]) -> bool:
    choices = schema.get("anyOf", [schema])
    return isinstance(choices, list) and any(choice.get("type") == "array" for choice in choices)


def _split(text: str) -> list[Json]:
    return [part.strip() for part in text.split(",") if part.strip()]
