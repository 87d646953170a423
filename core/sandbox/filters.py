"""Transaction filters of ListTransactions: terms joined by OR, of literals joined by AND."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pysui.sui.sui_grpc.suimsgs.sui.rpc.v2 as rpc

from tidegate.core.sandbox.refusals import invalid, unimplemented
from tidegate.core.tokens import normalize_address

Predicate: TypeAlias = Callable[[rpc.ExecutedTransaction], bool]


@dataclass(frozen=True, slots=True)
class Matcher:
    """A filter, with the part of it that the ledger has an index for."""

    predicate: Predicate
    sender: str | None = None
    """Set when every match was sent by this address."""
    affected: str | None = None
    """Set when every match changed what this address owns."""

    def __call__(self, executed: rpc.ExecutedTransaction) -> bool:
        return self.predicate(executed)


def filter_of(message: rpc.TransactionFilter | None) -> Matcher:
    """Return the test that a filter stands for; no filter matches everything.

    Raises:
        Refused: INVALID_ARGUMENT for an empty filter or term, UNIMPLEMENTED for a literal without an index.
    """
    if message is None:
        return Matcher(lambda _executed: True)
    if not message.terms or not all(term.literals for term in message.terms):
        raise invalid("a filter needs terms, and a term needs literals")
    terms = [[_literal(literal) for literal in term.literals] for term in message.terms]

    def predicate(executed: rpc.ExecutedTransaction) -> bool:
        return any(all(literal(executed) for literal in term) for term in terms)

    sender = affected = None
    if len(message.terms) == 1:
        for literal in message.terms[0].literals:
            if literal.negated:
                continue
            if literal.sender is not None:
                sender = _address(literal.sender.address)
            if literal.affected_address is not None:
                affected = _address(literal.affected_address.address)
    return Matcher(predicate, sender, affected)


def _literal(literal: rpc.TransactionLiteral) -> Predicate:
    if literal.sender is not None:
        test = _sent_by(_address(literal.sender.address))
    elif literal.affected_address is not None:
        test = _affects(_address(literal.affected_address.address))
    elif literal.affected_object is not None:
        test = _changes(_address(literal.affected_object.object_id))
    elif literal.move_call is not None:
        test = _calls(literal.move_call.function or "")
    else:
        raise unimplemented("the filter has a predicate that the sandbox does not index")
    if literal.negated:
        return lambda executed: not test(executed)
    return test


def _address(text: str | None) -> str:
    try:
        return normalize_address(text or "")
    except ValueError as error:
        raise invalid(f"invalid address in filter: {text!r}") from error


def _sent_by(address: str) -> Predicate:
    def test(executed: rpc.ExecutedTransaction) -> bool:
        return executed.transaction is not None and executed.transaction.sender == address

    return test


def _affects(address: str) -> Predicate:
    def test(executed: rpc.ExecutedTransaction) -> bool:
        if executed.transaction is not None and executed.transaction.sender == address:
            return True
        changed = executed.effects.changed_objects if executed.effects else []
        return any(
            owner is not None and owner.address == address
            for change in changed
            for owner in (change.input_owner, change.output_owner)
        )

    return test


def _changes(object_id: str) -> Predicate:
    def test(executed: rpc.ExecutedTransaction) -> bool:
        changed = executed.effects.changed_objects if executed.effects else []
        return any(change.object_id == object_id for change in changed)

    return test


def _calls(path: str) -> Predicate:
    # The filter names a package, a module in it, or a function in that.
    parts = path.split("::")
    parts[0] = _address(parts[0])

    def test(executed: rpc.ExecutedTransaction) -> bool:
        kind = executed.transaction.kind if executed.transaction else None
        programmable = kind.programmable_transaction if kind else None
        calls = [command.move_call for command in programmable.commands] if programmable else []
        return any(
            call is not None and [call.package, call.module, call.function][: len(parts)] == parts
            for call in calls
        )

    return test
