"""Execution when the network refuses, fails, or falls silent."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tidegate.core.chain.client import SuiNetwork
from tidegate.core.chain.endpoint import Endpoint, parse_endpoint
from tidegate.core.chain.execution import Submitter
from tidegate.core.chain.rpc import LoopThread, Node
from tidegate.core.chain.types import Draft, Signature
from tidegate.core.errors import NetworkError, OutcomeUnknown
from tidegate.core.money import Amount
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.tokens import USDC

from .conftest import pay

RECIPIENT = "0x" + "ab" * 32


@pytest.fixture
def draft(funded: SuiNetwork, alice: Any) -> Draft:
    return funded.draft(alice.address, pay(Amount(USDC, 7), RECIPIENT))


@pytest.fixture
def impatient(funded: SuiNetwork) -> Iterator[tuple[Submitter, list[float]]]:
    """A submitter that asks twice without waiting, and the pauses it would have made."""
    pauses: list[float] = []
    loop = LoopThread()
    node = Node(loop, parse_endpoint(funded.url), timeout_s=0.5)
    yield Submitter(node, poll_delays_s=(0.0, 2.5), sleep=pauses.append), pauses
    node.close()
    loop.close()


@pytest.fixture
def hanging_up() -> Iterator[Endpoint]:
    """A port that reads a little of what it is sent and ends the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection = listening.accept()[0]
                except OSError:
                    return
                with connection:
                    connection.recv(64)

        thread = threading.Thread(target=serve)
        thread.start()
        yield Endpoint("127.0.0.1", int(listening.getsockname()[1]), tls=False)
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def received(ledger: Ledger) -> int:
    return ledger.balances(RECIPIENT).get(USDC.coin_type, 0)


def test_an_answer_that_is_dropped_is_found_by_asking(
    funded: SuiNetwork, ledger: Ledger, alice: Any, draft: Draft
) -> None:
    controls.set_fault(ledger, "drop-response", 1)

    outcome = funded.execute(draft.bytes, alice.sign(draft.bytes))

    assert outcome.changes == draft.outcome.changes
    assert received(ledger) == 7


def test_an_answer_that_comes_too_late_is_found_by_asking(
    ledger: Ledger, alice: Any, draft: Draft, impatient: Any
) -> None:
    controls.set_fault(ledger, "delay", 1_500)

    outcome = impatient[0].execute(draft.bytes, alice.sign(draft.bytes))

    assert outcome.digest == draft.digest
    assert received(ledger) == 7


def test_a_node_that_is_not_available_for_a_moment_is_sent_the_same_bytes_again(
    funded: SuiNetwork, ledger: Ledger, alice: Any, draft: Draft
) -> None:
    controls.set_fault(ledger, "unavailable", 1)

    outcome = funded.execute(draft.bytes, alice.sign(draft.bytes))

    assert outcome.digest == draft.digest
    assert received(ledger) == 7


def test_a_node_that_stays_unavailable_leaves_the_outcome_unknown(
    ledger: Ledger, alice: Any, draft: Draft, impatient: Any
) -> None:
    controls.set_fault(ledger, "unavailable", 100)
    submitter, pauses = impatient

    with pytest.raises(OutcomeUnknown, match=draft.digest):
        submitter.execute(draft.bytes, alice.sign(draft.bytes))

    assert pauses == [0.0, 2.5]
    assert received(ledger) == 0


def test_a_node_that_hangs_up_after_it_was_sent_a_transaction_leaves_it_unknown(
    alice: Any, draft: Draft, hanging_up: Endpoint
) -> None:
    loop = LoopThread()
    node = Node(loop, hanging_up, timeout_s=2.0)

    with pytest.raises(OutcomeUnknown, match="was lost"):
        Submitter(node, poll_delays_s=(0.0,)).execute(draft.bytes, alice.sign(draft.bytes))

    node.close()
    loop.close()


def test_a_connection_that_is_never_made_sends_nothing(alice: Any, draft: Draft, ledger: Ledger) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    loop = LoopThread()
    node = Node(loop, parse_endpoint(url), timeout_s=1.0)

    with pytest.raises(NetworkError, match="Nothing listens"):
        Submitter(node).execute(draft.bytes, alice.sign(draft.bytes))

    assert received(ledger) == 0
    node.close()
    loop.close()


def test_a_signature_of_somebody_else_is_refused(
    funded: SuiNetwork, ledger: Ledger, bob: Any, draft: Draft
) -> None:
    with pytest.raises(NetworkError, match="INVALID_ARGUMENT"):
        funded.execute(draft.bytes, bob.sign(draft.bytes))

    assert received(ledger) == 0


def test_bytes_that_are_no_transaction_are_refused(funded: SuiNetwork) -> None:
    with pytest.raises(NetworkError, match="refused"):
        funded.execute(b"\0\1\2", Signature(b"\0" * 97))


def test_a_transaction_whose_coins_were_spent_meanwhile_is_refused(
    funded: SuiNetwork, ledger: Ledger, alice: Any, draft: Draft
) -> None:
    other = funded.draft(alice.address, pay(Amount(USDC, 9), RECIPIENT))
    funded.execute(other.bytes, alice.sign(other.bytes))

    with pytest.raises(NetworkError, match="unavailable for consumption"):
        funded.execute(draft.bytes, alice.sign(draft.bytes))

    assert received(ledger) == 9


def test_the_same_bytes_sent_twice_are_executed_once(
    funded: SuiNetwork, ledger: Ledger, alice: Any, draft: Draft
) -> None:
    first = funded.execute(draft.bytes, alice.sign(draft.bytes))

    assert funded.execute(draft.bytes, alice.sign(draft.bytes)) == first
    assert received(ledger) == 7


def test_a_refusal_of_bytes_that_were_executed_is_no_failure(
    funded: SuiNetwork, ledger: Ledger, alice: Any, bob: Any, draft: Draft
) -> None:
    first = funded.execute(draft.bytes, alice.sign(draft.bytes))

    assert funded.execute(draft.bytes, bob.sign(draft.bytes)) == first


def test_an_abort_on_chain_is_an_outcome_with_its_code(
    funded: SuiNetwork, ledger: Ledger, alice: Any, draft: Draft
) -> None:
    controls.set_fault(ledger, "abort", 1)

    outcome = funded.execute(draft.bytes, alice.sign(draft.bytes))

    assert outcome.failure is not None
    assert (outcome.failure.module, outcome.failure.function, outcome.failure.code) == ("fault", "abort", 1)
    assert outcome.gas.net > 0
    assert received(ledger) == 0


def test_a_draft_of_an_epoch_long_past_is_refused(
    funded: SuiNetwork, ledger: Ledger, alice: Any, draft: Draft
) -> None:
    controls.advance_clock(ledger, 2 * 24 * 3600 * 1000)

    with pytest.raises(NetworkError, match="Expired"):
        funded.execute(draft.bytes, alice.sign(draft.bytes))
