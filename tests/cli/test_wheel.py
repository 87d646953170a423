"""What is installed: the package, and nothing else of this tree."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("pyproject.toml", "README.md", "LICENSE", "cli", "core", "recipes")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZipFile]:
    """A wheel of the tree, built beside it so that no build folder is left in it."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, source)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, source],
        check=True,
        capture_output=True,
        timeout=110,
    )
    (file,) = folder.glob("*.whl")
    with ZipFile(file) as archive:
        yield archive


def test_a_wheel_holds_the_package_only(wheel: ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert tops == {"tidegate", f"tidegate-{_project()['version']}.dist-info"}


def test_every_module_is_in_it(wheel: ZipFile) -> None:
    here = {
        f"tidegate/{path.relative_to(ROOT).as_posix()}"
        for part in ("cli", "core", "recipes")
        for path in (ROOT / part).rglob("*.py")
    }
    assert {name for name in wheel.namelist() if name.endswith(".py")} == here


def test_nothing_but_modules_and_their_marks_is_in_it(wheel: ZipFile) -> None:
    ours = [name for name in wheel.namelist() if name.startswith("tidegate/")]
    assert {name.rpartition("/")[2] for name in ours if not name.endswith(".py")} == {"py.typed"}
    for part in ("cli", "core", "recipes"):
        assert f"tidegate/{part}/py.typed" in ours, f"{part} does not say that it is typed"


def test_the_command_is_declared(wheel: ZipFile) -> None:
    declared = wheel.read(_info(wheel, "entry_points.txt")).decode()
    assert declared == "[console_scripts]\ntidegate = tidegate.cli.entry:main\n"


def test_readme_and_license_go_with_it(wheel: ZipFile) -> None:
    metadata = Parser().parsestr(wheel.read(_info(wheel, "METADATA")).decode())
    assert (metadata["Name"], metadata["License-Expression"]) == ("tidegate", "MIT")
    assert metadata.get_payload() == (ROOT / "README.md").read_text("utf-8")
    assert wheel.read(_info(wheel, "licenses/LICENSE")) == (ROOT / "LICENSE").read_bytes()


def test_it_runs_where_nothing_else_of_the_tree_is(wheel: ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _HELP, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith("Usage: tidegate ")


_HELP = """
import sys
sys.path.insert(0, sys.argv[1])
sys.argv[1:] = ["--help"]
from tidegate.cli.entry import main
sys.exit(main())
"""


def _info(wheel: ZipFile, name: str) -> str:
    (found,) = [path for path in wheel.namelist() if path.endswith(f".dist-info/{name}")]
    return found


def _project() -> dict[str, str]:
    project: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return project
