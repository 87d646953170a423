"""transaction_history: what an account did on chain, newest first, in words."""

from __future__ import annotations

from datetime import date as Day
from typing import Literal

from pydantic import Field

from tidegate.core.chain.types import BalanceDelta, HistoryEntry, HistoryPage
from tidegate.core.clock import iso_ms
from tidegate.core.events import Number
from tidegate.core.money import plain
from tidegate.core.store.base import Contacts
from tidegate.core.tokens import SUI
from tidegate.core.tools.arguments import AddressText, account, resolve_party
from tidegate.core.tools.base import ReadTool, ToolContext, ToolInput, ToolOutput, ToolResult
from tidegate.core.tools.signed_amount import signed_value

Action = Literal["send", "lending", "swap", "transaction"]

_LENDING = ("incentive_v3::", "incentive_v2::", "lending::")
_SWAPS = ("router::", "cetus::", "pool_script")
_PAGE = 50
_PAGES = 5
"""Most pages of the network's history that one call with filters looks through."""


class HistoryInput(ToolInput):
    """Which transactions."""

    limit: int = Field(default=10, ge=1, le=50)
    address: AddressText | None = None
    counterparty: AddressText | None = None
    date: Day | None = None
    """UTC day, 2026-11-30."""
    action: Action | None = None
    direction: Literal["in", "out"] | None = None
    before: str | None = Field(default=None, max_length=200)
    """`next_cursor` of an earlier answer."""


class Change(ToolOutput):
    """What one coin of the account changed by, gas apart."""

    symbol: str
    coin_type: str
    amount: Number


class Transaction(ToolOutput):
    """One executed transaction."""

    digest: str
    time: str | None
    action: Action
    label: str
    status: Literal["success", "failed"]
    changes: list[Change]
    counterparty: str | None
    gas_sui: Number
    """What this account paid for gas; 0 if another did."""


class HistoryOutput(ToolOutput):
    """Newest first."""

    address: str
    is_self: bool
    transactions: list[Transaction]
    next_cursor: str | None
    searched: int
    """Transactions looked at; more than are listed when filters left some out."""


def read_history(args: HistoryInput, context: ToolContext) -> ToolResult:
    """Read the account's transactions and say what each one was."""
    address = account(args.address, context)
    other = None
    if args.counterparty is not None:
        other = resolve_party(args.counterparty, context.contacts).address
    found: list[Transaction] = []
    cursor = args.before
    searched = 0
    for _ in range(_PAGES):
        page, matches = _search(args, address, other, args.limit - len(found), cursor, context)
        cursor = page.next_cursor
        searched += len(page.entries)
        found.extend(matches)
        if cursor is None or len(found) >= args.limit or context.cancelled.is_set():
            break
    output = HistoryOutput(
        address=address,
        is_self=address == context.wallet,
        transactions=found,
        next_cursor=cursor,
        searched=searched,
    )
    return ToolResult(output, _sentence(output))


def _search(
    args: HistoryInput, address: str, other: str | None, wanted: int, before: str | None, context: ToolContext
) -> tuple[HistoryPage, list[Transaction]]:
    """Return a page that ends with the last of at most `wanted` matches, and those matches."""
    filtered = any((args.action, other, args.date, args.direction))
    network = context.network()
    page = network.history(address, limit=_PAGE if filtered else wanted, before=before)
    matches: list[Transaction] = []
    for index, entry in enumerate(page.entries):
        transaction = _describe(entry, address, context)
        if not _wanted(transaction, args, other):
            continue
        matches.append(transaction)
        if len(matches) == wanted and index + 1 < len(page.entries):
            # A cursor stands at the end of a page only, so the page is cut where the answer ends.
            return network.history(address, limit=index + 1, before=before), matches
    return page, matches


def _wanted(transaction: Transaction, args: HistoryInput, other: str | None) -> bool:
    if args.action is not None and transaction.action != args.action:
        return False
    if other is not None and transaction.counterparty != other:
        return False
    if args.date is not None and (transaction.time or "")[:10] != args.date.isoformat():
        return False
    if args.direction is not None:
        wanted_sign = 1 if args.direction == "in" else -1
        return any(change.amount * wanted_sign > 0 for change in transaction.changes)
    return True


def _describe(entry: HistoryEntry, address: str, context: ToolContext) -> Transaction:
    outcome = entry.outcome
    gas = outcome.gas.net if entry.sender == address else 0
    deltas = _without_gas(outcome.changes, address, gas)
    tokens = context.tokens().present(sorted(deltas))
    changes = [
        Change(
            symbol=tokens[coin_type].symbol,
            coin_type=coin_type,
            amount=signed_value(tokens[coin_type], base),
        )
        for coin_type, base in sorted(deltas.items())
        if coin_type in tokens
    ]
    action = _action(entry)
    party = _counterparty(outcome.changes, address, deltas) if action == "send" else None
    return Transaction(
        digest=outcome.digest,
        time=None if outcome.timestamp_ms is None else iso_ms(outcome.timestamp_ms),
        action=action,
        label=_label(entry, action, changes, party, context.contacts),
        status="success" if outcome.failure is None else "failed",
        changes=changes,
        counterparty=party,
        gas_sui=signed_value(SUI, gas),
    )


def _without_gas(changes: tuple[BalanceDelta, ...], address: str, gas: int) -> dict[str, int]:
    sums: dict[str, int] = {}
    for change in changes:
        if change.address == address:
            sums[change.coin_type] = sums.get(change.coin_type, 0) + change.base
    if gas:
        sums[SUI.coin_type] = sums.get(SUI.coin_type, 0) + gas
    return {coin_type: base for coin_type, base in sums.items() if base != 0}


def _action(entry: HistoryEntry) -> Action:
    functions = [call.split("::", 1)[1] for call in entry.calls if "::" in call]
    if any(function.startswith(_SWAPS) for function in functions):
        return "swap"
    if any(function.startswith(_LENDING) for function in functions):
        return "lending"
    return "send" if entry.outcome.changes and not functions else "transaction"


def _counterparty(changes: tuple[BalanceDelta, ...], address: str, deltas: dict[str, int]) -> str | None:
    """Return the one other address whose balance moved the opposite way, or None if there is not just one."""
    others = {
        change.address
        for change in changes
        if change.address != address and deltas.get(change.coin_type, 0) * change.base < 0
    }
    return others.pop() if len(others) == 1 else None


def _label(
    entry: HistoryEntry, action: Action, changes: list[Change], party: str | None, contacts: Contacts
) -> str:
    outs = " and ".join(f"{plain(-change.amount)} {change.symbol}" for change in changes if change.amount < 0)
    ins = " and ".join(f"{plain(change.amount)} {change.symbol}" for change in changes if change.amount > 0)
    who = "" if party is None else party
    if party is not None:
        contact = contacts.by_address(party)
        who = contact.name if contact else party
    if entry.outcome.failure is not None:
        return f"Failed: {entry.outcome.failure.description}"
    if action == "swap" and outs and ins:
        return f"Swapped {outs} to {ins}"
    if action == "lending" and outs:
        return f"Paid {outs} into NAVI"
    if action == "lending" and ins:
        return f"Took {ins} out of NAVI"
    if outs:
        return f"Sent {outs}" + (f" to {who}" if who else "")
    if ins:
        return f"Received {ins}" + (f" from {who}" if who else "")
    return "Transaction"


def _sentence(history: HistoryOutput) -> str:
    if not history.transactions:
        if history.next_cursor is not None:
            return f"No match among the last {history.searched} transactions; older ones were not looked at."
        return "No transactions yet." if history.searched == 0 else "No transaction matches."
    lines = "; ".join(
        f"{(transaction.time or 'unknown time')[:16].replace('T', ' ')} {transaction.label}"
        for transaction in history.transactions[:10]
    )
    count = len(history.transactions)
    return f"The last {count} transactions: {lines}." if count > 1 else f"One transaction: {lines}."


TRANSACTION_HISTORY = ReadTool(
    name="transaction_history",
    description=(
        "Lists an account's transactions on chain, newest first, with what each was, its amounts, "
        "counterparty and gas. Filters: counterparty, UTC date, action, direction."
    ),
    input_model=HistoryInput,
    output_model=HistoryOutput,
    run=read_history,
    example={"limit": 5},
    result_cap=8_000,
)
