"""save_contact: a name for an address, kept on this machine."""

from __future__ import annotations

import unicodedata

from pydantic import Field

from tidegate.core.errors import BadAddress, UsageError
from tidegate.core.store.base import Contact
from tidegate.core.tools.arguments import AddressText, resolve_party
from tidegate.core.tools.base import LocalTool, ToolContext, ToolInput, ToolOutput, ToolResult

_MAX_NAME = 40


class ContactInput(ToolInput):
    """Who is at which address."""

    name: str = Field(min_length=1, max_length=200)
    address: AddressText


class ContactOutput(ToolOutput):
    """What was saved."""

    name: str
    address: str
    look_alike: str | None = None
    """Name of another contact whose address begins and ends like this one."""


def save_contact(args: ContactInput, context: ToolContext) -> ToolResult:
    """Save a contact; a changed address is refused, so that no name is ever pointed elsewhere unseen."""
    name = _checked_name(args.name)
    if args.address[:2].lower() != "0x":
        raise BadAddress("A contact needs an address.", hint="Write 0x and all 64 hex digits.")
    address = resolve_party(args.address, context.contacts).address
    if int(address, 16) == 0:
        raise BadAddress("0x0 is nobody's address.", hint="Write the address of the person.")
    twin = _look_alike(address, context)
    context.contacts.save(Contact(name, address), context.clock.now_ms())
    output = ContactOutput(name=name, address=address, look_alike=twin)
    warning = (
        f" Careful: it begins and ends like the address of {twin}, which is how swindlers make them."
        if twin
        else ""
    )
    return ToolResult(output, f"Saved {name} as {address}.{warning}")


def _checked_name(text: str) -> str:
    name = unicodedata.normalize("NFC", " ".join(text.split()))
    if not any(char.isalnum() for char in name):
        raise UsageError("A contact needs a name.", hint="Use at least one letter or digit.")
    if len(name) > _MAX_NAME:
        raise UsageError("The name is too long.", hint=f"Use at most {_MAX_NAME} characters.")
    if name[:2].lower() == "0x" or not all(_in_a_name(char) for char in name):
        raise UsageError(
            f"{name!r} cannot be a contact's name.", hint="Use letters, digits, spaces and . _ - ' ’ @ only."
        )
    return name


def _in_a_name(char: str) -> bool:
    # Vowel signs of many scripts are marks (M), not letters.
    return char.isalnum() or char in " ._-'’@" or unicodedata.category(char) in ("Mn", "Mc")


def _look_alike(address: str, context: ToolContext) -> str | None:
    """Return the contact whose address has the same first and last six digits but is another."""
    for contact in context.contacts.all():
        same_ends = contact.address[:8] == address[:8] and contact.address[-6:] == address[-6:]
        if contact.address != address and same_ends:
            return contact.name
    return None


SAVE_CONTACT = LocalTool(
    name="save_contact",
    description="Saves a name for an address on this machine, so that money can be sent to the name.",
    input_model=ContactInput,
    output_model=ContactOutput,
    run=save_contact,
    example={"name": "bob", "address": "0x" + "ab" * 32},
    # Money goes to a contact without asking: a text that a model read must not be able to make one.
    words=lambda args: (args.name, args.address),
)
