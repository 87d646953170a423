"""How fast tidegate is, as ratios to something that this machine does in the same run.

Run it: make bench. Seconds depend on the machine and on what else it does; ratios hardly do. Each ratio is
one of medians, and what is compared takes turns, so that a busy moment falls on both sides.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from messages_server import MODEL, MessagesServer, Raw, Reply, reply_many, reply_text

from tidegate.core.cancel import Cancel
from tidegate.core.engine import submit
from tidegate.core.errors import NotUnderstood
from tidegate.core.events import TextDelta
from tidegate.core.providers.offline_grammar import plan
from tidegate.core.runtime import Runtime, open_runtime

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types import MessageParam

COMMAND = str(Path(sys.executable).with_name("tidegate"))
ASK = (COMMAND, "ask", "What is my balance?", "--provider")
KEY = "sk-ant-benchmark"
DELTAS = 10_000
STARTS = 15
"""Repeats of what starts processes."""
LOOPS = 9
"""Repeats of what stays in this process."""
DEADLINE_S = 60
TRACED = "import sys; from tidegate.cli.entry import main; sys.exit(main())"


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    ratio: float
    aim: float | None = None
    """The ratio to stay under; None where nobody has set one."""

    def cells(self) -> tuple[str, str, str, str]:
        """Return what the table shows."""
        if self.aim is None:
            return self.name, f"{self.ratio:.2f}", "", ""
        return self.name, f"{self.ratio:.2f}", f"< {self.aim}", "ok" if self.ratio < self.aim else "over"


def main() -> None:
    """Measure everything and print it."""
    with tempfile.TemporaryDirectory() as folder, MessagesServer() as server:
        home = used_home(Path(folder), server)
        rows = [*start_rows(home, server), stream_row(home, server), planner_row()]
        print_table([("name", "ratio", "aim", ""), *(row.cells() for row in rows)])
        print()
        for provider in ("offline", "anthropic"):
            print(loaded_before_first_event(home, server, provider))


def used_home(folder: Path, server: MessagesServer) -> dict[str, str]:
    """Return the environment of a person whose wallet and store are not made any more by what is measured."""
    foreign = ("TIDEGATE_", "XDG_", "ANTHROPIC_", "PYTHON")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(foreign)} | {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_STATE_HOME": str(folder / "state"),
        "ANTHROPIC_API_KEY": KEY,
        "TIDEGATE_ANTHROPIC_BASE_URL": server.url,
    }
    run((*ASK, "offline"), environ)
    return environ


def start_rows(environ: dict[str, str], server: MessagesServer) -> Iterator[Row]:
    """Measure processes against one that does nothing."""
    nothing, helped, answered, offline, anthropic = medians(
        STARTS,
        lambda: seconds(lambda: run((sys.executable, "-c", "pass"), environ)),
        lambda: seconds(lambda: run((COMMAND, "--help"), environ)),
        lambda: seconds(lambda: run((*ASK, "offline"), environ)),
        lambda: seconds_to_first_event((*ASK, "offline"), environ),
        lambda: seconds_to_first_event((*ASK, "anthropic"), environ, server),
    )
    yield Row("tidegate --help / python -c pass", helped / nothing, 5.0)
    yield Row("ask offline, to its end / python -c pass", answered / nothing)
    yield Row("ask offline, to its first event / python -c pass", offline / nothing)
    yield Row("ask anthropic, to its first event / python -c pass", anthropic / nothing)


def stream_row(environ: dict[str, str], server: MessagesServer) -> Row:
    """Measure a turn of many deltas against reading the same bytes with the SDK alone."""
    import anthropic

    reply = encoded(reply_many(DELTAS))
    with (
        anthropic.Anthropic(api_key=KEY, base_url=server.url, max_retries=0) as client,
        closing(open_runtime(environ=environ, flags={})) as runtime,
    ):
        bare, ours = medians(
            LOOPS,
            lambda: seconds_of_sdk(client, server, reply),
            lambda: seconds_of_engine(runtime, server, reply),
        )
    return Row(f"{DELTAS:,} deltas, engine / bare anthropic SDK", ours / bare, 1.5)


def planner_row() -> Row:
    """Measure the offline planner on twice the commas: 2 would be linear, 4 quadratic, 8 cubic."""
    whole, half = medians(LOOPS, lambda: seconds_of_plan(16_000), lambda: seconds_of_plan(8_000))
    return Row("planner, 16,000 characters of commas / 8,000", whole / half, 3.0)


def medians(repeats: int, *measures: Callable[[], float]) -> list[float]:
    """Return the median of each measure; they take turns, and the first turn only warms up."""
    turns = [[measure() for measure in measures] for _ in range(repeats + 1)]
    return [median(taken) for taken in zip(*turns[1:], strict=True)]


def seconds(work: Callable[[], object]) -> float:
    """Return how long work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def run(command: tuple[str, ...], environ: dict[str, str]) -> str:
    """Run a command that must go well, and return all it said in the order in which it said it."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environ,
        text=True,
        timeout=DEADLINE_S,
        check=True,
    ).stdout


def seconds_to_first_event(
    command: tuple[str, ...], environ: dict[str, str], server: MessagesServer | None = None
) -> float:
    """Return the time from the start of a process to its first line; its end is waited for, not measured."""
    if server is not None:
        server.script(reply_text("Enough."))
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environ, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        taken = time.perf_counter() - began
        process.communicate(timeout=DEADLINE_S)
    assert '"type":"stream_started"' in line, line
    return taken


def encoded(reply: Reply) -> Reply:
    """Return a reply whose bytes are made now, so that the server takes no time from whoever reads them."""
    import httpx

    with MessagesServer() as server:
        server.script(reply)
        return replace(reply, pieces=(Raw(httpx.post(f"{server.url}/v1/messages", json={}).content),))


def seconds_of_sdk(client: Anthropic, server: MessagesServer, reply: Reply) -> float:
    """Return how long the SDK alone takes for a stream."""
    server.script(reply)
    began = time.perf_counter()
    talk: MessageParam = {"role": "user", "content": "Talk."}
    with client.messages.create(model=MODEL, max_tokens=4096, messages=[talk], stream=True) as events:
        count = sum(event.type == "content_block_delta" for event in events)
    taken = time.perf_counter() - began
    assert count == DELTAS
    return taken


def seconds_of_engine(runtime: Runtime, server: MessagesServer, reply: Reply) -> float:
    """Return how long a whole turn takes for a stream."""
    server.script(reply)
    began = time.perf_counter()
    count = sum(isinstance(event, TextDelta) for event in submit(runtime, "Talk.", cancelled=Cancel()))
    taken = time.perf_counter() - began
    assert count == DELTAS
    return taken


def seconds_of_plan(characters: int) -> float:
    """Return how long the planner takes to refuse a text of commas."""

    def refuse() -> None:
        with suppress(NotUnderstood):
            plan(", " * (characters // 2))

    return seconds(refuse)


def loaded_before_first_event(environ: dict[str, str], server: MessagesServer, provider: str) -> str:
    """Return, in words, which SDKs had been loaded when the first event was on its way.

    Python traces an import on stderr when it ends, and events are flushed; one pipe for both keeps the order.
    """
    server.script(reply_text("Enough."))
    told = run((sys.executable, "-X", "importtime", "-c", TRACED, *ASK[1:], provider), environ)
    before, event, after = told.partition('"type":"stream_started"')
    assert event, told
    parts = []
    for sdk in ("anthropic", "pysui"):
        when = "before it" if imports(before, sdk) else "after it" if imports(after, sdk) else "not at all"
        parts.append(f"{sdk} was imported {when}")
    return f"First event of ask, {provider}: {', '.join(parts)}."


def imports(trace: str, package: str) -> bool:
    """Tell whether an import trace names a package or a part of it."""
    names = (
        line.rpartition("|")[2].strip() for line in trace.splitlines() if line.startswith("import time:")
    )
    return any(name == package or name.startswith(f"{package}.") for name in names)


def print_table(rows: list[tuple[str, str, str, str]]) -> None:
    """Print rows in columns that stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()
