from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidegate.core.errors import StoreError
from tidegate.core.paths import Paths, ensure_private_dir


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_lie_under_home_by_default() -> None:
    paths = Paths.from_environ({"HOME": "/home/ada"})
    assert paths.config_dir == Path("/home/ada/.config/tidegate")
    assert paths.state_dir == Path("/home/ada/.local/state/tidegate")


def test_xdg_variables_move_the_folders() -> None:
    paths = Paths.from_environ({"HOME": "/home/ada", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"})
    assert paths == Paths(Path("/c/tidegate"), Path("/s/tidegate"))


@pytest.mark.parametrize("value", ["", "relative", "./here", "~/there"])
def test_xdg_variables_that_are_not_absolute_count_for_nothing(value: str) -> None:
    paths = Paths.from_environ({"HOME": "/home/ada", "XDG_CONFIG_HOME": value, "XDG_STATE_HOME": value})
    assert paths == Paths.from_environ({"HOME": "/home/ada"})


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}])
def test_without_home_the_user_database_says_where_it_is(environ: dict[str, str]) -> None:
    home = pwd.getpwuid(os.getuid()).pw_dir
    assert Paths.from_environ(environ).config_dir == Path(home, ".config", "tidegate")


def test_files_have_their_places() -> None:
    paths = Paths(Path("/c"), Path("/s"))
    assert paths.config_file == Path("/c/config.toml")
    assert paths.keys_dir == Path("/c/keys")
    assert paths.store_file == Path("/s/tidegate.db")
    assert paths.sandbox_file == Path("/s/sandbox.db")
    assert paths.history_file == Path("/s/history")


@pytest.mark.usefixtures("umask")
def test_new_folders_are_private_whatever_the_umask(tmp_path: Path) -> None:
    folder = ensure_private_dir(tmp_path / "a" / "b")
    assert mode(folder) == 0o700
    assert mode(folder.parent) == 0o700


def test_a_folder_open_to_others_is_narrowed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert mode(ensure_private_dir(tmp_path)) == 0o700


def test_folders_above_keep_their_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    ensure_private_dir(tmp_path / "a")
    assert mode(tmp_path) == 0o755


def test_a_folder_made_by_another_process_meanwhile_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.mkdir

    def mkdir_after_another(path: Path, mode: int) -> None:
        real(path, mode)
        real(path, mode)

    monkeypatch.setattr(Path, "mkdir", mkdir_after_another)
    assert mode(ensure_private_dir(tmp_path / "a")) == 0o700


def test_a_file_in_the_place_of_the_folder_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(StoreError, match=r"a cannot be made private to you: .*exists"):
        ensure_private_dir(tmp_path / "a")


def test_a_place_where_nothing_can_be_made_is_said_with_a_hint() -> None:
    with pytest.raises(StoreError) as caught:
        ensure_private_dir(Path("/proc/tidegate"))
    assert "XDG_STATE_HOME" in (caught.value.hint or "")
