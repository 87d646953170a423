"""The whole engine as a library: real settings, SQLite, sandbox over gRPC and keys, in a folder of a test."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tidegate.core.cancel import Cancel
from tidegate.core.chain.network import open_sandbox_ledger
from tidegate.core.clock import Clock
from tidegate.core.engine import call, submit
from tidegate.core.events import Event, PendingActionBody
from tidegate.core.runtime import Runtime, open_runtime
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.settlement import resume
from tidegate.core.store.base import Attempt, Step
from tidegate.core.tokens import USDC, Token
from tidegate.core.tools.base import Tool, ToolInput, WriteTool
from tidegate.core.tools.registry import parse_input, tool_by_name
from tidegate.core.writes.types import Road, WriteCall

START_MS = 1_800_000_000_000
STRANGER = "0x" + "5e" * 32

T = TypeVar("T", bound=Event)


@dataclass
class House:
    """One person's machine. Every runtime is what another process would have."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)
    now_ms: int = START_MS
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _opened: list[Runtime] = field(default_factory=list)

    @property
    def clock(self) -> Clock:
        """Wall time stands still until the test moves it; deadlines of reads need time that passes."""
        return Clock(now_ms=lambda: self.now_ms, monotonic=time.monotonic)

    def new_id(self) -> str:
        number = next(self._numbers)
        return f"{number:08x}-0000-4000-8000-000000000000"

    def open(
        self, environ: Mapping[str, str] | None = None, tools: Sequence[Tool] | None = None, **flags: str
    ) -> Runtime:
        """Return what another command would run on, with other tools if some are given."""
        own = {
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "XDG_STATE_HOME": str(self.folder / "state"),
        }
        whole = own | self.environ | dict(environ or {})
        runtime = open_runtime(environ=whole, flags=flags, clock=self.clock, ids=self.new_id)
        if tools is not None:
            runtime = Runtime(
                runtime.settings,
                runtime.secrets,
                runtime.sources,
                runtime.paths,
                self.clock,
                self.new_id,
                tools,
            )
        self._opened.append(runtime)
        return runtime

    def close(self) -> None:
        for runtime in self._opened:
            runtime.close()

    @contextmanager
    def ledger(self) -> Iterator[Ledger]:
        """The sandbox's ledger, as `tidegate sandbox` opens it."""
        with closing(open_sandbox_ledger(self.folder / "state" / "tidegate", self.clock)) as ledger:
            yield ledger

    def transactions(self) -> int:
        """Return how many transactions the network ever executed."""
        with self.ledger() as ledger:
            latest = ledger.checkpoint()
            assert latest is not None
            return latest.sequence

    def holding(self, runtime: Runtime, token: Token = USDC, address: str | None = None) -> int:
        """Return an address's base units; the wallet's if none is named."""
        with self.ledger() as ledger:
            return ledger.balances(address or str(runtime.address())).get(token.coin_type, 0)


def asked(runtime: Runtime, text: str, *, dry_run: bool = False, session: str | None = None) -> list[Event]:
    """Run one turn."""
    return list(submit(runtime, text, session=session, dry_run=dry_run, cancelled=Cancel()))


def called(runtime: Runtime, tool: str, **fields: str) -> list[Event]:
    """Run one tool by name."""
    return list(call(runtime, tool, fields, cancelled=Cancel()))


def resumed(runtime: Runtime, attempt: str | None = None, **how: object) -> list[Event]:
    """Settle one attempt; see core/settlement.py for what `how` may be."""
    return list(resume(runtime, attempt, cancelled=Cancel(), **how))  # type: ignore[arg-type]


def every(kind: type[T], events: Iterable[Event]) -> list[T]:
    """Return the events of a kind."""
    return [event for event in events if isinstance(event, kind)]


def only(kind: type[T], events: Iterable[Event]) -> T:
    """Return the one event of a kind."""
    found = every(kind, events)
    assert len(found) == 1, f"{len(found)} {kind.__name__} among {events}"
    return found[0]


def road_of(runtime: Runtime, *, dry_run: bool = False) -> Road:
    """Return the write road of a turn that nothing was said in."""
    return runtime.road(session_id="s", turn=1, history=(), cancel=Cancel(), dry_run=dry_run)


def write_call(name: str, **fields: object) -> WriteCall:
    """Return a write that a person asked for by the tool's name."""
    words = [str(value) for value in fields.values()]
    tool = write_tool(name)
    return WriteCall(tool, parse_input(tool, fields), "call_1", True, words, ())


def write_tool(name: str) -> WriteTool[ToolInput]:
    tool = tool_by_name(name)
    assert isinstance(tool, WriteTool)
    return tool


def steps_of(attempt: Attempt) -> list[Step]:
    return [row.step for row in attempt.rows]


def newest(runtime: Runtime) -> Attempt:
    return runtime.store.journal.recent(1)[0]


def first_action(attempt: Attempt) -> PendingActionBody:
    """Return a waiting write as it was first shown."""
    return PendingActionBody.model_validate(attempt.opened["action"])
