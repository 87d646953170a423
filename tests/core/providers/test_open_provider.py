from __future__ import annotations

import subprocess
import sys

import pytest

from tidegate.core.errors import ConfigError
from tidegate.core.providers.open import open_provider


@pytest.mark.parametrize(
    ("choice", "key", "name"),
    [
        ("auto", None, "offline"),
        ("auto", "", "offline"),
        ("auto", " \n", "offline"),
        ("auto", "sk-ant-1", "anthropic"),
        ("anthropic", "sk-ant-1\n", "anthropic"),
        ("offline", "sk-ant-1", "offline"),
    ],
)
def test_the_provider_is_the_one_named_or_the_one_there_is_a_key_for(choice, key, name):
    assert open_provider(choice, api_key=key).name == name


def test_the_model_is_the_one_named():
    assert open_provider("anthropic", model="claude-opus-5-5", api_key="k").model == "claude-opus-5-5"


def test_without_a_name_the_model_is_one_the_sdk_lists():
    from typing import get_args

    from anthropic.types import ModelParam

    listed = get_args(get_args(ModelParam)[0])
    assert open_provider("anthropic", api_key="k").model in listed


def test_claude_without_a_key_is_wrong_usage_with_a_hint():
    with pytest.raises(ConfigError) as caught:
        open_provider("anthropic")

    assert caught.value.exit_status == 2
    assert "ANTHROPIC_API_KEY" in str(caught.value.hint)


def test_an_unknown_provider_is_refused_with_the_choices():
    with pytest.raises(ConfigError) as caught:
        open_provider("gpt")

    assert "offline" in str(caught.value.hint)


@pytest.mark.parametrize("key", ["sk ant", "sk-\x07", "sk-ключ", "a\r\nx-evil: 1"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(key):
    with pytest.raises(ConfigError) as caught:
        open_provider("anthropic", api_key=key)

    assert key not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.com",
        "http://192.168.0.7:8080",
        "ftp://api.example.com",
        "api.example.com",
        "https://user:secret@api.example.com",
        "https://",
        "http://localhost.evil.example",
        "http://[::1",
    ],
)
def test_an_address_that_would_show_the_key_is_refused(url):
    with pytest.raises(ConfigError) as caught:
        open_provider("anthropic", api_key="k", base_url=url)

    assert "secret" not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    "url", ["https://gateway.example.com/v2", "http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:8"]
)
def test_an_encrypted_address_or_this_machine_is_taken(url):
    assert open_provider("anthropic", api_key="k", base_url=url).name == "anthropic"


def test_opening_a_provider_does_not_load_the_sdk():
    code = (
        "import sys; from tidegate.core.providers.open import open_provider as o; o('auto', api_key='k');"
        "print([m for m in ('anthropic', 'httpx2', 'genai_prices') if m in sys.modules])"
    )

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout.strip() == "[]"
