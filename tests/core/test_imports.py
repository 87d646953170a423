"""The shape of the house, read from the source: who may import whom, and what loads at start."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("cli", "core", "recipes")

LEAVES = {
    "cancel",
    "clock",
    "config_file",
    "errors",
    "events",
    "jsonlines",
    "money",
    "paths",
    "settings",
    "settings_model",
    "tokens",
}
"""Modules of core/ that anyone may import."""

PLUMBING = {"chain", "services", "store"}
ENGINE = {
    "dispatch",
    "conversation",
    "prompt",
    "turn",
    "loop",
    "engine",
    "runtime",
    "settlement",
    "doctor",
    "memory",
    "mcp",
}
"""Modules and packages of core/ that put the others together."""

MAY_IMPORT = {
    "leaf": {"leaf"},
    "chain": {"leaf", *PLUMBING},
    "services": {"leaf", *PLUMBING},
    "store": {"leaf", *PLUMBING},
    "policy": {"leaf", *PLUMBING, "policy"},
    "providers": {"leaf", *PLUMBING, "providers"},
    "tools": {"leaf", *PLUMBING, "tools"},
    "writes": {"leaf", *PLUMBING, "policy", "tools", "writes"},
    "engine": {"leaf", *PLUMBING, "policy", "providers", "tools", "writes", "engine"},
    "cli": {"leaf", *PLUMBING, "policy", "providers", "tools", "writes", "engine", "cli"},
    "recipes": {"recipes"},
    "sandbox": {"leaf", "sandbox"},
}

EXCEPTIONS = {
    # What a tool's operation is called is policy's to say; every other word of policy is not for tools.
    ("tools", "tidegate.core.policy.types"),
    # The registry shows tools in the form a model is told of them.
    ("tools", "tidegate.core.providers.base"),
}
SANDBOX_STARTERS = {"tidegate.core.chain.network"}
SANDBOX_USERS = {*SANDBOX_STARTERS, "tidegate.core.runtime"}
"""Who may import the embedded network at all: its opener, and who fills a new wallet from its faucet."""

HEAVY = {
    "anthropic",
    "cryptography",
    "genai_prices",
    "grpclib",
    "httpx",
    "mcp",
    "prompt_toolkit",
    "pysui",
    "rich",
    "tomli_w",
}


@dataclass(frozen=True)
class Module:
    name: str
    path: Path
    tree: ast.Module

    @property
    def area(self) -> str:
        """The row of MAY_IMPORT that this module obeys."""
        parts = self.name.split(".")[1:]
        if parts[0] != "core" or len(parts) == 1:
            return "leaf" if parts == ["core"] else parts[0]
        if parts[1] in LEAVES or parts[1:] in (["chain"], ["chain", "deployments"]):
            return "leaf"
        return "engine" if parts[1] in ENGINE else parts[1]


@cache
def modules() -> dict[str, Module]:
    found = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(("tidegate", *(part for part in parts if part != "__init__")))
            found[name] = Module(name, path, ast.parse(path.read_text("utf-8")))
    return found


def at_start(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs when a module is imported: nothing inside functions, nothing for type checkers only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            for other in child.orelse:
                yield other
                yield from at_start(other)
            continue
        yield child
        yield from at_start(child)


def imported(nodes: Iterator[ast.AST]) -> Iterator[str]:
    """Yield the full names of the modules that the import statements among the nodes name."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:
                deeper = f"{node.module}.{alias.name}"
                yield deeper if deeper in modules() else str(node.module)


def ours(names: Iterator[str]) -> set[str]:
    return {name for name in names if name in modules()}


@pytest.mark.parametrize("name", modules())
def test_every_module_belongs_to_an_area(name: str) -> None:
    assert modules()[name].area in MAY_IMPORT, f"{name}: say in this file which area it belongs to"


@pytest.mark.parametrize("name", modules())
def test_imports_point_one_way(name: str) -> None:
    module = modules()[name]
    for target in ours(imported(ast.walk(module.tree))):
        area = modules()[target].area
        allowed = (
            area in MAY_IMPORT[module.area]
            or (module.area, target) in EXCEPTIONS
            or (area == "sandbox" and (name in SANDBOX_USERS or module.area == "cli"))
        )
        assert allowed, f"{name} ({module.area}) imports {target} ({area})"


def test_only_the_opener_of_networks_starts_the_sandbox() -> None:
    starts = {"tidegate.core.sandbox.session", "tidegate.core.sandbox.server", "tidegate.core.sandbox.node"}
    importers = {
        name
        for name, module in modules().items()
        if module.area != "sandbox" and starts & ours(imported(ast.walk(module.tree)))
    }
    assert importers <= SANDBOX_STARTERS


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name: ours(imported(at_start(module.tree))) - {name} for name, module in modules().items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("name", modules())
def test_only_the_rpc_face_and_the_sandbox_are_asynchronous(name: str) -> None:
    module = modules()[name]
    if module.area == "sandbox" or name == "tidegate.core.chain.rpc":
        return
    asynchronous = [node for node in ast.walk(module.tree) if isinstance(node, ast.AsyncFunctionDef)]
    assert [node.name for node in asynchronous] == []


@pytest.mark.parametrize("name", modules())
def test_nothing_heavy_loads_with_a_module(name: str) -> None:
    module = modules()[name]
    if module.area == "sandbox":
        return
    loaded = {target.split(".")[0] for target in imported(at_start(module.tree))}
    assert loaded & HEAVY == set()


def test_every_package_folder_is_installed() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]
    folders = {name for name, module in modules().items() if module.path.name == "__init__.py"}
    assert sorted(folders) == sorted(declared)


def test_every_module_lies_in_a_package() -> None:
    homeless = [
        name for name, module in modules().items() if not (module.path.parent / "__init__.py").exists()
    ]
    assert homeless == []
