"""tidegate chat: many turns in one process."""

from __future__ import annotations

import sys

from tidegate.cli.flags import (
    ContinueFlag,
    DryRunFlag,
    ModelFlag,
    NetworkFlag,
    OutputFlag,
    PresetFlag,
    ProfileFlag,
    ProviderFlag,
    SessionFlag,
)


def chat(
    session: SessionFlag = None,
    continue_: ContinueFlag = False,
    dry_run: DryRunFlag = False,
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    provider: ProviderFlag = None,
    model: ModelFlag = None,
    preset: PresetFlag = None,
    output: OutputFlag = None,
) -> None:
    """Talk: a prompt on a terminal; in a pipe, one JSON request a line in and events out.

    A request is {"text": …}, or {"resume": ID or null, "decision": "approve" or "deny"} with "changes" or
    "understood_usd" where they are needed.

    Example: printf '{"text":"balance"}\\n{"text":"save 1 USDC"}\\n' | tidegate chat
    """
    from tidegate.cli.dialogue import Dialogue
    from tidegate.cli.output import is_terminal
    from tidegate.cli.turns import Turns, run_turns

    def talk(turns: Turns) -> None:
        dialogue = Dialogue(turns, session=session, continue_latest=continue_, dry_run=dry_run)
        if is_terminal(sys.stdin):
            from tidegate.cli.chat_prompt import converse

            converse(dialogue)
        else:
            from tidegate.cli.chat_lines import answer_lines

            answer_lines(dialogue, sys.stdin)

    run_turns(
        {
            "network": network,
            "profile": profile,
            "provider": provider,
            "model": model,
            "preset": preset,
            "output": output,
        },
        talk,
    )
