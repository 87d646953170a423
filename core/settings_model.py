"""What can be set: the settings with what each allows, and, apart from them, the secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
)

NAME = r"[a-z0-9_-]{1,32}"
"""Keys, presets and profiles are called so."""


def _whole(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value):
        return int(value)
    if type(value) is int:
        return value
    raise ValueError("not a whole number")


def _exact(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,18})?", value):
        return Decimal(value)
    if type(value) is int or (isinstance(value, Decimal) and value.is_finite()):
        return Decimal(value)
    raise ValueError("not an exact number")


def _words(value: object) -> object:
    return [word for word in re.split(r"[,\s]+", value) if word] if isinstance(value, str) else value


def _endpoint(url: str) -> str:
    """Refuse a URL over which a secret or a transaction would leave this machine unencrypted."""
    parts = urlsplit(url)
    local = parts.hostname in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", parts.hostname or "")
    if not parts.hostname or parts.scheme not in ("https", *(["http"] if local else [])):
        raise ValueError("not an endpoint")
    return url


def _network(value: str) -> str:
    return value if value in ("sandbox", "testnet", "mainnet") else _endpoint(value)


@dataclass(frozen=True, slots=True)
class Allows:
    """What a setting can be, for error messages: completes ``must be …``."""

    text: str


_URL = "an https:// URL (http:// only on this machine)"
_SECONDS = "a number of seconds above 0, up to 600"

Name = Annotated[str, Field(pattern=rf"^{NAME}$")]
Line = Annotated[str, Field(pattern=r"^[!-~]{1,200}$")]
Url = Annotated[Line, AfterValidator(_endpoint)]
Whole = Annotated[int, BeforeValidator(_whole)]
Seconds = Annotated[Decimal, BeforeValidator(_exact), Field(gt=0, le=600), Allows(_SECONDS)]
Dollars = Annotated[Decimal, BeforeValidator(_exact), Field(ge=0, le=10**12)]

NAME_ALLOWED = Allows("1 to 32 of a-z, 0-9, _ and -")
DOLLARS_ALLOWED = Allows("a number of USD, zero or more, such as 25 or 2.50")


class Settings(BaseModel):
    """Everything that can be set, frozen. The descriptions are the ones people read in the documentation."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, validate_default=True)

    profile: Annotated[
        Name | None,
        Allows("the name of a [profiles.NAME] table"),
        Field(description="The [profiles.NAME] table of the file to use."),
    ] = None
    network: Annotated[
        Line,
        AfterValidator(_network),
        Allows(f"sandbox, testnet, mainnet or {_URL}"),
        Field(description="The Sui network: sandbox, testnet, mainnet, or the URL of a node."),
    ] = "sandbox"
    provider: Annotated[
        Literal["auto", "anthropic", "offline"],
        Allows("auto, anthropic or offline"),
        Field(description="Who answers; auto is anthropic if ANTHROPIC_API_KEY is set, else offline."),
    ] = "auto"
    model: Annotated[
        Line | None,
        Allows("the id of a model"),
        Field(description="The model; the provider's own if not set."),
    ] = None
    preset: Annotated[
        Name | None,
        NAME_ALLOWED,
        Field(description="What may go through without asking; without one nothing does on a real network."),
    ] = None
    wallet: Annotated[
        Name | None,
        NAME_ALLOWED,
        Field(description="The name of the key to use; sandbox on the sandbox and default elsewhere."),
    ] = None
    output: Annotated[
        Literal["auto", "ndjson", "json", "text"],
        Allows("auto, ndjson, json or text"),
        Field(description="The form of the output; auto is text on a terminal, else ndjson."),
    ] = "auto"
    max_turns: Annotated[
        Whole,
        Field(ge=1, le=100, description="Most model steps in one turn."),
        Allows("a whole number from 1 to 100"),
    ] = 10
    max_tokens: Annotated[
        Whole,
        Field(ge=1, le=200_000, description="Most tokens of one model answer."),
        Allows("a whole number from 1 to 200000"),
    ] = 4096
    thinking_tokens: Annotated[
        Whole,
        Field(ge=0, le=200_000, description="Tokens a model may think before it answers; 0 is none."),
        Allows("a whole number from 0 to 200000"),
    ] = 0
    budget_usd: Annotated[
        Dollars | None, DOLLARS_ALLOWED, Field(description="What one turn's model calls may cost, in USD.")
    ] = None
    approval_minutes: Annotated[
        Whole,
        Field(ge=1, le=10_080, description="How long a write waits for its approval."),
        Allows("a whole number of minutes from 1 to 10080"),
    ] = 15
    tool_deadline_s: Annotated[Seconds, Field(description="How long one read may take, in seconds.")] = (
        Decimal(10)
    )
    network_timeout_s: Annotated[
        Seconds, Field(description="How long one call to the network may take, in seconds.")
    ] = Decimal(10)
    anthropic_base_url: Annotated[
        Url | None, Allows(_URL), Field(description="Another address of the Anthropic API.")
    ] = None
    disabled_guards: Annotated[
        tuple[Name, ...],
        BeforeValidator(_words),
        Allows("a list of guard names"),
        Field(description="Guards that are switched off; only those of the ux tier can be."),
    ] = ()
    presets: Annotated[
        Mapping[str, object],
        Allows("a table of presets"),
        Field(description="Presets of your own: [presets.NAME] tables, in the file only."),
    ] = Field(default_factory=dict)

    @property
    def preset_name(self) -> str | None:
        """The preset in force: only where no real money is can it go unnamed."""
        return self.preset or ("balanced" if self.network == "sandbox" else None)

    @property
    def wallet_name(self) -> str:
        """The name of the key in force."""
        return self.wallet or ("sandbox" if self.network == "sandbox" else "default")


class Secrets(BaseModel):
    """What only the environment may say. Its repr shows stars."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    anthropic_api_key: SecretStr | None = None
    """ANTHROPIC_API_KEY."""
    private_key: SecretStr | None = None
    """TIDEGATE_PRIVATE_KEY: ``suiprivkey1…``."""
    passphrase: SecretStr | None = None
    """TIDEGATE_PASSPHRASE: opens the key file."""
