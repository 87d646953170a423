"""Tools by name, and the words for input that a tool cannot take."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from tool_house import House

from tidegate.core.errors import UnknownTool, UsageError
from tidegate.core.events import to_json
from tidegate.core.tools.base import LocalTool, ReadTool, Tool, WriteTool
from tidegate.core.tools.registry import all_tools, input_schema, is_read, parse_input, spec, tool_by_name

every_tool = pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: tool.name)


def fault_of(name: str, fields: dict[str, Any]) -> UsageError:
    with pytest.raises(UsageError) as raised:
        parse_input(tool_by_name(name), fields)
    return raised.value


def test_tools_are_reads_then_writes_then_those_of_this_machine() -> None:
    assert [(tool.name, type(tool)) for tool in all_tools()] == [
        ("balance_check", ReadTool),
        ("savings_info", ReadTool),
        ("rates_info", ReadTool),
        ("token_prices", ReadTool),
        ("swap_quote", ReadTool),
        ("transaction_history", ReadTool),
        ("save_deposit", WriteTool),
        ("withdraw", WriteTool),
        ("send_transfer", WriteTool),
        ("swap_execute", WriteTool),
        ("save_contact", LocalTool),
    ]


@every_tool
def test_a_tool_is_found_by_its_name(tool: Tool) -> None:
    assert tool_by_name(tool.name) is tool


@every_tool
def test_only_reads_may_run_beside_others(tool: Tool) -> None:
    assert is_read(tool) == isinstance(tool, ReadTool)


@every_tool
def test_a_tools_example_is_good_input_by_its_schema_and_by_its_model(tool: Tool) -> None:
    jsonschema.validate(tool.example, input_schema(tool))

    assert parse_input(tool, tool.example)


@every_tool
def test_a_model_sees_name_description_and_a_schema_that_lets_nothing_unknown_through(tool: Tool) -> None:
    seen = spec(tool)

    assert (seen.name, seen.description) == (tool.name, tool.description)
    jsonschema.Draft202012Validator.check_schema(seen.input_schema)
    assert seen.input_schema["additionalProperties"] is False


def test_a_models_fields_have_the_names_that_people_type() -> None:
    assert list(input_schema(tool_by_name("swap_execute"))["properties"]) == [
        "from",
        "to",
        "amount",
        "by_amount_in",
        "slippage",
    ]


@pytest.mark.parametrize(
    "tool", [tool for tool in all_tools() if isinstance(tool, ReadTool)], ids=lambda tool: tool.name
)
def test_a_reads_example_is_answered_as_its_output_model_says(house: House, tool: ReadTool[Any]) -> None:
    result = tool.run(parse_input(tool, tool.example), house.context())

    assert isinstance(result.data, tool.output_model)
    assert result.to_json() == {"data": to_json(result.data), "display_text": result.display_text}
    assert result.display_text.endswith(".")
    assert len(result.display_text) < tool.result_cap


def test_a_write_touches_only_reads_that_exist() -> None:
    reads = {tool.name for tool in all_tools() if is_read(tool)}

    for tool in all_tools():
        if isinstance(tool, WriteTool):
            assert set(tool.touches) <= reads
            assert set(tool.modifiable) <= set(input_schema(tool)["properties"])


# Names


def test_a_misspelt_tool_gets_the_closest_name() -> None:
    with pytest.raises(UnknownTool, match="No tool is called 'swap_exec'") as raised:
        tool_by_name("swap_exec")
    assert str(raised.value.hint).startswith("Did you mean swap_execute? Tools: balance_check, ")


@pytest.mark.parametrize("name", ["", "qqqq", "BALANCE_CHECK", "x" * 10_000])
def test_a_name_that_is_none_gets_the_list(name: str) -> None:
    with pytest.raises(UnknownTool) as raised:
        tool_by_name(name)
    assert "Tools: balance_check, " in str(raised.value.hint)
    assert len(raised.value.message) < 150


# Input


def test_what_is_missing_is_named() -> None:
    error = fault_of("send_transfer", {})

    assert error.message == "send_transfer cannot take this input: to is missing; amount is missing."
    assert error.hint == "It takes to, amount, asset, memo. See `tidegate tools send_transfer`."


def test_a_field_is_missing_by_the_name_that_people_type() -> None:
    assert "from is missing" in fault_of("swap_quote", {"to": "SUI", "amount": 1}).message


def test_a_misspelt_field_gets_the_closest_one() -> None:
    error = fault_of("save_deposit", {"ammount": 5, "amount": 5})

    assert "ammount is not one of its fields (did you mean amount?)" in error.message


def test_a_field_that_is_like_none_is_just_not_one() -> None:
    message = fault_of("balance_check", {"q" * 500: 1}).message

    assert message.endswith("is not one of its fields.")
    assert len(message) < 200


def test_a_value_of_a_wrong_form_is_said_where_it_is() -> None:
    assert (
        "limit: input should be a valid integer" in fault_of("transaction_history", {"limit": "ten"}).message
    )
    assert "symbols.1: " in fault_of("token_prices", {"symbols": ["SUI", 5]}).message


def test_of_many_faults_five_are_named() -> None:
    message = fault_of("balance_check", {f"field_{number}": 1 for number in range(50)}).message

    assert message.count("is not one of its fields") == 5


def test_a_secret_in_a_wrong_place_is_not_repeated() -> None:
    secret = "suiprivkey1" + "q" * 59

    assert secret not in str(fault_of("transaction_history", {"limit": secret}).message)


def test_input_cannot_be_changed_once_it_is_checked() -> None:
    checked: Any = parse_input(tool_by_name("save_deposit"), {"amount": 5})

    with pytest.raises(ValueError, match="frozen"):
        checked.amount = "500"
