from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidegate.core.chain import wallet
from tidegate.core.chain.keyfile import KeyFile, close_key_file
from tidegate.core.chain.keys import KeyPair, key_pair_from_text
from tidegate.core.chain.wallet import (
    KeyInfo,
    KeyStore,
    address_of,
    passphrase_required,
    read_sui_keystore,
    signer_from_secret,
)
from tidegate.core.errors import (
    BadAddress,
    PassphraseNeeded,
    StoreError,
    UnsafeKeyFile,
    WalletError,
    WalletMissing,
)

TEXT = "suiprivkey1qqqqzqsrqszsvpcgpy9qkrqdpc83qygjzv2p29shrqv35xcur50p74yefn7"
ADDRESS = "0x160179a1565ea7cff27ead23f54cc7f50893bf58155cd7285156e57afa31c3ac"
ENTRIES = [
    "AAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f",
    "AQABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f",
]
"""The same 32 bytes as an Ed25519 and as a secp256k1 key."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "config" / "keys"


@pytest.fixture
def store(folder: Path) -> KeyStore:
    return KeyStore(folder)


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# Making and reading


def test_a_key_is_created_and_found_again(store: KeyStore) -> None:
    made = store.create("main", passphrase=None)
    assert store.info("main") == made == KeyInfo("main", made.address, "ed25519", False)
    assert store.load("main", None).address == made.address


def test_an_imported_key_signs_as_itself(store: KeyStore) -> None:
    store.import_key("main", TEXT, None)
    assert store.load("main", None).sign(b"tx") == signer_from_secret(TEXT).sign(b"tx")


def test_a_key_of_another_scheme_keeps_it(store: KeyStore) -> None:
    assert store.import_key("k1", ENTRIES[1], "tide").scheme == "secp256k1"
    assert store.load("k1", "tide").sign(b"tx").serialized[0] == 1


def test_a_key_is_exported_as_it_was_imported(store: KeyStore) -> None:
    store.import_key("main", TEXT, None)
    assert store.export("main", None) == TEXT


def test_a_name_is_never_given_twice(store: KeyStore) -> None:
    store.import_key("main", TEXT, None)
    with pytest.raises(WalletError, match="There is a key called main already"):
        store.create("main", passphrase=None)
    assert store.info("main").address == ADDRESS


def test_ensure_makes_a_key_once(store: KeyStore) -> None:
    first = store.ensure("sandbox")
    assert store.ensure("sandbox") == first
    assert not first.encrypted


def test_keys_are_listed_by_name(store: KeyStore, folder: Path) -> None:
    for name in ("b", "a"):
        store.create(name, passphrase=None)
    (folder / "notes.txt").write_text("")
    (folder / ".draft.json").write_text("")
    assert [info.name for info in store.list()] == ["a", "b"]


def test_there_are_no_keys_before_the_first(store: KeyStore, folder: Path) -> None:
    assert store.list() == ()
    assert not folder.exists()


@pytest.mark.parametrize("read", [KeyStore.info, lambda store, name: store.load(name, None)])
def test_a_missing_key_says_how_to_get_one(store: KeyStore, read: Callable[[KeyStore, str], object]) -> None:
    with pytest.raises(WalletMissing, match="no key"):
        read(store, "main")
    store.create("other", passphrase=None)
    with pytest.raises(WalletMissing, match="There is no key called main"):
        read(store, "main")


@pytest.mark.parametrize("name", ["", "A", "a b", "../a", "a/b", "a.json", "a\n", "é", "a" * 33, "\0"])
def test_a_name_that_could_be_a_path_is_refused(store: KeyStore, folder: Path, name: str) -> None:
    with pytest.raises(WalletError, match="cannot be the name of a key"):
        store.create(name, passphrase=None)
    with pytest.raises(WalletError, match="cannot be the name of a key"):
        store.info(name)
    assert not folder.exists()


def test_a_bad_secret_makes_no_file(store: KeyStore, folder: Path) -> None:
    with pytest.raises(WalletError):
        store.import_key("main", TEXT[:-1], None)
    assert not folder.exists()


# Passphrases


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(passphrase=st.text(min_size=1), other=st.text(min_size=1), data=st.data())
def test_only_its_passphrase_opens_a_key(
    store: KeyStore, passphrase: str, other: str, data: st.DataObject
) -> None:
    name = f"k{len(store.list())}"
    assert store.import_key(name, TEXT, passphrase).encrypted
    assert store.export(name, passphrase) == TEXT
    if other != passphrase:
        with pytest.raises(WalletError, match="wrong passphrase"):
            store.load(name, other)


def test_a_passphrase_is_the_same_however_its_letters_are_composed(store: KeyStore) -> None:
    store.import_key("main", TEXT, "caf\u00e9")
    assert store.export("main", "cafe\u0301") == TEXT


def test_a_passphrase_that_is_no_unicode_works(store: KeyStore) -> None:
    passphrase = b"tide\xff".decode("utf-8", "surrogateescape")
    store.import_key("main", TEXT, passphrase)
    assert store.export("main", passphrase) == TEXT


def test_a_passphrase_of_any_characters_works(store: KeyStore) -> None:
    store.import_key("main", TEXT, "\ud800\udcff\0")
    assert store.export("main", "\ud800\udcff\0") == TEXT


def test_an_encrypted_key_asks_for_its_passphrase(store: KeyStore) -> None:
    store.create("main", passphrase="tide")
    with pytest.raises(PassphraseNeeded, match="main"):
        store.load("main", None)


def test_an_empty_passphrase_is_refused(store: KeyStore, folder: Path) -> None:
    with pytest.raises(WalletError, match="passphrase is empty"):
        store.create("main", passphrase="")
    assert os.listdir(folder) == []


def test_an_encrypted_file_holds_neither_the_key_nor_the_passphrase(store: KeyStore, folder: Path) -> None:
    store.import_key("main", TEXT, "correct horse")
    content = (folder / "main.json").read_text()
    assert "suiprivkey" not in content
    assert "horse" not in content


def test_the_same_key_is_sealed_differently_every_time(store: KeyStore, folder: Path) -> None:
    store.import_key("a", TEXT, "tide")
    store.import_key("b", TEXT, "tide")
    secrets = [json.loads((folder / f"{name}.json").read_text())["secret"] for name in "ab"]
    assert all(secrets[0][part] != secrets[1][part] for part in ("salt", "nonce", "ciphertext"))


@pytest.mark.parametrize(
    ("network", "required"),
    [("sandbox", False), ("testnet", False), ("mainnet", True), ("https://node.example", True)],
)
def test_real_networks_require_a_passphrase(network: str, required: bool) -> None:
    assert passphrase_required(network) is required


# Files


@pytest.mark.usefixtures("umask")
def test_files_are_private_whatever_the_umask(store: KeyStore, folder: Path) -> None:
    store.create("main", passphrase=None)
    assert (mode(folder), mode(folder / "main.json")) == (0o700, 0o600)
    assert store.info("main").name == "main"


def test_nothing_is_left_beside_a_key(store: KeyStore, folder: Path) -> None:
    store.create("main", passphrase=None)
    assert os.listdir(folder) == ["main.json"]


@pytest.mark.parametrize("bits", [0o604, 0o640, 0o620, 0o602, 0o601])
def test_a_file_that_others_can_use_is_refused_with_the_command_that_helps(
    store: KeyStore, folder: Path, bits: int
) -> None:
    store.create("main", passphrase=None)
    (folder / "main.json").chmod(bits)
    with pytest.raises(UnsafeKeyFile) as caught:
        store.load("main", None)
    assert f"chmod 600 {folder}/main.json" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "use", [lambda s: s.info("main"), lambda s: s.list(), lambda s: s.create("b", passphrase=None)]
)
def test_a_folder_that_others_can_enter_is_refused_and_not_mended(
    store: KeyStore, folder: Path, use: Callable[[KeyStore], object]
) -> None:
    store.create("main", passphrase=None)
    folder.chmod(0o755)
    with pytest.raises(UnsafeKeyFile) as caught:
        use(store)
    assert f"chmod 700 {folder}" in (caught.value.hint or "")
    assert mode(folder) == 0o755


def test_a_stricter_file_is_fine(store: KeyStore, folder: Path) -> None:
    store.create("main", passphrase=None)
    (folder / "main.json").chmod(0o400)
    assert store.load("main", None).address


def test_a_linked_key_is_refused(store: KeyStore, folder: Path, tmp_path: Path) -> None:
    store.create("main", passphrase=None)
    (folder / "main.json").rename(tmp_path / "real.json")
    (folder / "main.json").symlink_to(tmp_path / "real.json")
    with pytest.raises(UnsafeKeyFile, match="symbolic link"):
        store.load("main", None)


def test_a_linked_folder_is_refused(store: KeyStore, folder: Path, tmp_path: Path) -> None:
    store.create("main", passphrase=None)
    folder.rename(tmp_path / "real")
    folder.symlink_to(tmp_path / "real")
    with pytest.raises(UnsafeKeyFile, match="symbolic link"):
        store.load("main", None)
    with pytest.raises(UnsafeKeyFile, match="symbolic link"):
        store.create("b", passphrase=None)


def test_a_link_in_the_place_of_a_new_key_is_not_followed(
    store: KeyStore, folder: Path, tmp_path: Path
) -> None:
    store.create("main", passphrase=None)
    (folder / "b.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WalletError, match="already"):
        store.create("b", passphrase=None)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_refused_at_once(
    store: KeyStore, folder: Path, make: Callable[[Path, int], None]
) -> None:
    store.create("main", passphrase=None)
    make(folder / "b.json", 0o600)
    with pytest.raises(UnsafeKeyFile, match="not a plain file"):
        store.load("b", None)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("part", ["", "main.json"])
def test_a_file_of_another_user_is_refused(store: KeyStore, folder: Path, part: str) -> None:
    store.create("main", passphrase=None)
    os.chown(folder / part, 65534, 65534)
    with pytest.raises(UnsafeKeyFile, match="belongs to another user"):
        store.load("main", None)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("locked", ["", "main.json"])
def test_a_file_that_cannot_be_read_is_said_plainly(store: KeyStore, folder: Path, locked: str) -> None:
    store.create("main", passphrase=None)
    for path in (folder.parent, folder, folder / "main.json"):
        os.chown(path, 65534, 65534)
    (folder / locked).chmod(0)
    child = os.fork()
    if child == 0:
        os.chdir(folder.parent)
        os.setuid(65534)
        try:
            KeyStore(Path(folder.name)).info("main")
        except WalletError as error:
            os._exit(0 if "cannot be read: permission denied" in error.message else 2)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


CHANGES: list[Callable[[dict[str, object]], object]] = [
    lambda file: file.clear(),
    lambda file: file.update(version=2),
    lambda file: file.update(address="0x" + "0" * 64),
    lambda file: file.update(address="0x2"),
    lambda file: file.update(scheme="secp256k1"),
    lambda file: file.update(more=1),
    lambda file: file.update(secret={"kind": "plain", "key": "x"}),
    lambda file: file.update(secret={"kind": "rot13", "key": TEXT}),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("passphrase", [None, "tide"])
def test_a_changed_file_does_not_open(
    store: KeyStore, folder: Path, change: Callable[[dict[str, object]], object], passphrase: str | None
) -> None:
    store.import_key("main", TEXT, passphrase)
    file = folder / "main.json"
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))
    with pytest.raises(WalletError) as caught:
        store.load("main", passphrase)
    assert TEXT not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"version":1}', b"{" * 100_000])
def test_a_damaged_file_is_said_to_be_damaged(store: KeyStore, folder: Path, content: bytes) -> None:
    store.create("main", passphrase=None)
    (folder / "main.json").write_bytes(content)
    with pytest.raises(WalletError, match="The file of the key main is damaged"):
        store.info("main")


@pytest.mark.parametrize(
    ("part", "value"), [("log2_n", 1), ("log2_n", 40), ("r", 2**20), ("p", 0), ("p", 99)]
)
def test_sealing_that_is_too_weak_or_too_costly_is_refused(
    store: KeyStore, folder: Path, part: str, value: int
) -> None:
    store.import_key("main", TEXT, "tide")
    file = folder / "main.json"
    content = json.loads(file.read_text())
    content["secret"][part] = value
    file.write_text(json.dumps(content))
    with pytest.raises(WalletError, match="damaged"):
        store.load("main", "tide")


def test_a_full_disk_leaves_no_half_of_a_key(store: KeyStore, folder: Path) -> None:
    store.create("main", passphrase=None)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(StoreError, match="cannot be stored: file too large"):
            store.create("b", passphrase=None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(folder) == ["main.json"]


# Races


def test_of_many_threads_one_creates(folder: Path) -> None:
    def create(_: int) -> str | None:
        try:
            return KeyStore(folder).create("main", passphrase=None).address
        except WalletError:
            return None

    with ThreadPoolExecutor(16) as pool:
        made = [address for address in pool.map(create, range(32)) if address]
    assert made == [KeyStore(folder).info("main").address]


def test_of_two_that_found_the_name_free_the_second_keeps_the_first(
    store: KeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def close_after_a_rival(pair: KeyPair, passphrase: str | None) -> KeyFile:
        monkeypatch.undo()
        store.import_key("main", TEXT, None)
        return close_key_file(pair, passphrase)

    monkeypatch.setattr(wallet, "close_key_file", close_after_a_rival)
    with pytest.raises(WalletError, match="already"):
        store.create("main", passphrase=None)
    assert store.export("main", None) == TEXT


def test_of_many_processes_all_get_the_same_key(folder: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tidegate.core.chain.wallet import KeyStore;"
        "sys.stdin.readline(); print(KeyStore(Path(sys.argv[1])).ensure('sandbox').address)"
    )
    command = [sys.executable, "-c", code, str(folder)]
    runs = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(6)
    ]
    for run in runs:
        assert run.stdin is not None
        run.stdin.write("go\n")
        run.stdin.flush()
    addresses = {run.communicate()[0].strip() for run in runs}
    assert addresses == {KeyStore(folder).info("sandbox").address}


# Sui's own keystore


def keystore(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "sui.keystore"
    path.write_text(json.dumps(content))
    return path


def test_the_only_key_of_a_keystore_needs_no_address(tmp_path: Path) -> None:
    assert read_sui_keystore(keystore(tmp_path, ENTRIES[:1])) == TEXT


def test_a_key_is_picked_by_its_address(tmp_path: Path, store: KeyStore) -> None:
    address = key_pair_from_text(ENTRIES[1]).address
    text = read_sui_keystore(keystore(tmp_path, ENTRIES), address.upper().replace("0X", "0x"))
    assert store.import_key("k1", text, None).address == address


def test_several_keys_are_named_by_their_addresses(tmp_path: Path) -> None:
    with pytest.raises(WalletError, match="holds 2 keys") as caught:
        read_sui_keystore(keystore(tmp_path, ENTRIES))
    assert all(key_pair_from_text(entry).address in (caught.value.hint or "") for entry in ENTRIES)


def test_an_address_that_is_not_there_is_told_which_are(tmp_path: Path) -> None:
    with pytest.raises(WalletError, match="holds no key of 0x0") as caught:
        read_sui_keystore(keystore(tmp_path, ENTRIES), "0x2")
    assert ADDRESS in (caught.value.hint or "")


def test_what_is_no_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadAddress):
        read_sui_keystore(keystore(tmp_path, ENTRIES), "alice")


def test_an_empty_keystore_holds_no_key(tmp_path: Path) -> None:
    with pytest.raises(WalletError, match="holds 0 keys"):
        read_sui_keystore(keystore(tmp_path, []))


@pytest.mark.parametrize("content", [{}, [1], "x", None, ["not a key"], [*ENTRIES, "AA"]])
def test_what_is_no_keystore_is_refused(tmp_path: Path, content: object) -> None:
    with pytest.raises(WalletError, match=r"not a (Sui keystore|private key)"):
        read_sui_keystore(keystore(tmp_path, content))


@pytest.mark.parametrize("content", [b"[", b"\xff\xfe", b"[" * 100_000])
def test_a_keystore_that_is_no_json_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sui.keystore"
    path.write_bytes(content)
    with pytest.raises(WalletError, match="not a Sui keystore"):
        read_sui_keystore(path)


def test_a_keystore_that_is_missing_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(WalletError, match="cannot be read: no such file"):
        read_sui_keystore(tmp_path / "sui.keystore")


# The process


def test_a_hardened_process_leaves_no_core() -> None:
    code = (
        "import ctypes, resource; from tidegate.core.chain.wallet import harden_process; harden_process();"
        "print(resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "(0, 0) 0\n"


def test_the_wallet_gives_addresses_too() -> None:
    assert address_of(0, key_pair_from_text(TEXT).public_key) == ADDRESS
