"""Turns that follow each other in one conversation, whoever asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from tidegate.cli.turns import Turns
from tidegate.core.cancel import Cancel
from tidegate.core.engine import submit
from tidegate.core.events import Event
from tidegate.core.runtime import Runtime
from tidegate.core.settlement import Choice, resume


class Dialogue:
    """Runs requests of one conversation.

    Args:
        turns: What runs them.
        session: Conversation to go on with; a new one if not given.
        continue_latest: Go on with the newest conversation.
        dry_run: Take writes through their simulation only.
    """

    def __init__(self, turns: Turns, *, session: str | None, continue_latest: bool, dry_run: bool) -> None:
        self.turns = turns
        self._session = session
        self._continue_latest = continue_latest
        self._dry_run = dry_run

    def ask(self, text: str) -> None:
        """Run one turn."""

        def begin(runtime: Runtime, cancel: Cancel) -> Iterator[Event]:
            session = self._session or self.turns.session_id
            return submit(
                runtime,
                text,
                session=session,
                continue_latest=self._continue_latest and session is None,
                dry_run=self._dry_run,
                cancelled=cancel,
            )

        self.turns.run(begin)
        self._session = self._session or self.turns.session_id

    def settle(
        self,
        attempt: str | None,
        *,
        decision: Choice | None = None,
        changes: Mapping[str, str] | None = None,
        understood_usd: Decimal | None = None,
        at_terminal: bool = False,
    ) -> None:
        """Settle a write that waits; see `core.settlement.resume`."""

        def begin(runtime: Runtime, cancel: Cancel) -> Iterator[Event]:
            return resume(
                runtime,
                attempt,
                decision=decision,
                changes=changes,
                understood_usd=understood_usd,
                interactive_explicit=at_terminal,
                cancelled=cancel,
            )

        self.turns.run(begin)
