"""The folder of keys: one file a key, which nobody but its owner can read, or it is not used."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import shlex
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tidegate.core.chain.keyfile import KeyFile, close_key_file, open_key_file, parse_key_file
from tidegate.core.chain.keys import (
    KeyPair,
    Scheme,
    address_of,
    key_pair_from_text,
    new_key_pair,
    signer_of,
)
from tidegate.core.chain.types import Signer
from tidegate.core.errors import BadAddress, StoreError, UnsafeKeyFile, WalletError, WalletMissing
from tidegate.core.paths import ensure_private_dir
from tidegate.core.tokens import normalize_address

__all__ = [
    "KeyInfo",
    "KeyStore",
    "address_of",
    "harden_process",
    "passphrase_required",
    "read_sui_keystore",
    "signer_from_secret",
]

_NAME = re.compile(r"[a-z0-9_-]{1,32}")
_SUFFIX = ".json"
_MAX_FILE_BYTES = 64 * 1024
_MAX_KEYSTORE_BYTES = 1024 * 1024
_PR_SET_DUMPABLE = 4
"""Linux, prctl(2)."""


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """What is known of a key without opening it."""

    name: str
    address: str
    scheme: Scheme
    encrypted: bool


class KeyStore:
    """Keys by name, in files of mode 0600 in one folder of mode 0700.

    Args:
        directory: The folder; made when the first key is stored.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def create(self, name: str, *, passphrase: str | None) -> KeyInfo:
        """Make a new Ed25519 key and store it.

        Args:
            name: 1 to 32 of a-z, 0-9, _ and -.
            passphrase: What encrypts the file; None leaves the key in the open (see `passphrase_required`).

        Raises:
            WalletError: the name is not allowed or taken, or the passphrase is empty.
            UnsafeKeyFile: others can enter the folder.
            StoreError: the file cannot be written.
        """
        return self._add_new(name, new_key_pair(), passphrase)

    def import_key(self, name: str, secret: str, passphrase: str | None) -> KeyInfo:
        """Store a key that exists already.

        Args:
            name: 1 to 32 of a-z, 0-9, _ and -.
            secret: ``suiprivkey1…`` or an entry of a sui.keystore file.
            passphrase: What encrypts the file; None leaves the key in the open.

        Raises:
            WalletError: the secret is no key, or as for `create`.
        """
        return self._add_new(name, key_pair_from_text(secret), passphrase)

    def ensure(self, name: str) -> KeyInfo:
        """Return the key of that name, made in the open if there is none: for networks without real money."""
        try:
            return self.info(name)
        except WalletMissing:
            self._add(name, new_key_pair(), None)
            return self.info(name)

    def list(self) -> tuple[KeyInfo, ...]:
        """Return every key, by name.

        Raises:
            UnsafeKeyFile: others can read one of the files.
        """
        try:
            with self._folder() as folder:
                files = sorted(os.listdir(folder))
        except WalletMissing:
            return ()
        names = [file.removesuffix(_SUFFIX) for file in files if file.endswith(_SUFFIX)]
        return tuple(self.info(name) for name in names if _NAME.fullmatch(name))

    def info(self, name: str) -> KeyInfo:
        """Return what is known of a key without its passphrase.

        Raises:
            WalletMissing: there is no key of that name.
            UnsafeKeyFile: others can read it, or it is a symbolic link.
            WalletError: its file is damaged.
        """
        return _info(name, self._read(name))

    def load(self, name: str, passphrase: str | None) -> Signer:
        """Return what signs with a key.

        Raises:
            PassphraseNeeded: it is encrypted and `passphrase` is None.
            WalletError: the passphrase is wrong, or as for `info`.
        """
        return signer_of(open_key_file(self._read(name), name, passphrase))

    def export(self, name: str, passphrase: str | None) -> str:
        """Return a key as ``suiprivkey1…``: whoever sees this text owns what the key owns.

        Raises:
            PassphraseNeeded: it is encrypted and `passphrase` is None.
            WalletError: the passphrase is wrong, or as for `info`.
        """
        pair = open_key_file(self._read(name), name, passphrase)
        text = pair.text()
        pair.forget()
        return text

    def _add_new(self, name: str, pair: KeyPair, passphrase: str | None) -> KeyInfo:
        info = self._add(name, pair, passphrase)
        if info is None:
            raise WalletError(
                f"There is a key called {name} already.",
                hint="Choose another name; keys are never overwritten.",
            )
        return info

    def _add(self, name: str, pair: KeyPair, passphrase: str | None) -> KeyInfo | None:
        """Store a key and return what is known of it, or None if the name is taken."""
        file = _file_name(name)
        if not os.path.lexists(self._directory):
            ensure_private_dir(self._directory)
        with self._folder() as folder:
            if _exists(folder, file):
                return None
            content = close_key_file(pair, passphrase)
            pair.forget()
            try:
                added = _write_once(folder, file, content.model_dump_json(indent=2).encode() + b"\n")
            except OSError as error:
                raise StoreError(
                    f"The key {name} cannot be stored: {(error.strerror or str(error)).lower()}.",
                    hint="No key was made. Free some space or give yourself permission to write there.",
                ) from error
        return _info(name, content) if added else None

    def _read(self, name: str) -> KeyFile:
        file = _file_name(name)
        path = self._directory / file
        with self._folder() as folder:
            try:
                # Without O_NONBLOCK a pipe put in the file's place would be waited for.
                descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
            except FileNotFoundError:
                raise WalletMissing(f"There is no key called {name}.") from None
            except OSError as error:
                raise _cannot_open(path, error) from error
        try:
            _require_private(path, os.fstat(descriptor), stat.S_ISREG, 0o600)
            content = os.read(descriptor, _MAX_FILE_BYTES)
        finally:
            os.close(descriptor)
        return parse_key_file(content, name)

    @contextmanager
    def _folder(self) -> Iterator[int]:
        """Yield the open folder, so that nobody can put another one in its place meanwhile."""
        try:
            folder = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:
            raise WalletMissing("There is no key yet.") from None
        except OSError as error:
            raise _cannot_open(self._directory, error) from error
        try:
            _require_private(self._directory, os.fstat(folder), stat.S_ISDIR, 0o700)
            yield folder
        finally:
            os.close(folder)


def _info(name: str, file: KeyFile) -> KeyInfo:
    return KeyInfo(name, file.address, file.scheme, file.encrypted)


def _file_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise WalletError(
            f"{name[:40]!r} cannot be the name of a key.", hint="A name is 1 to 32 of a-z, 0-9, _ and -."
        )
    return name + _SUFFIX


def _exists(folder: int, file: str) -> bool:
    try:
        os.stat(file, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _write_once(folder: int, file: str, content: bytes) -> bool:
    """Write a file whole and durable, or return False if there is one of that name.

    It is written under another name and then linked to its own, which of many processes one can do: nobody
    ever sees half a key, and nothing is overwritten.
    """
    draft = f".{file}.{os.getpid()}.{os.urandom(4).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(draft, flags, 0o600, dir_fd=folder), "wb") as stream:
        try:
            os.fchmod(stream.fileno(), 0o600)
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
            os.link(draft, file, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            return False
        finally:
            os.unlink(draft, dir_fd=folder)
    os.fsync(folder)
    return True


def _require_private(path: Path, status: os.stat_result, is_kind: Callable[[int], bool], mode: int) -> None:
    if not is_kind(status.st_mode):
        raise UnsafeKeyFile(f"{path} is not a plain file or folder.", hint="Move it away.")
    if status.st_uid != os.geteuid():
        raise UnsafeKeyFile(
            f"{path} belongs to another user.", hint=f"Run: chown {os.geteuid()} {shlex.quote(str(path))}"
        )
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise UnsafeKeyFile(
            f"{path} is open to other users (mode {stat.S_IMODE(status.st_mode):04o}).",
            hint=f"Run: chmod {mode:o} {shlex.quote(str(path))} — and if others may have read it, move what "
            "the key owns to a new one.",
        )


def _cannot_open(path: Path, error: OSError) -> WalletError:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return UnsafeKeyFile(
            f"{path} is a symbolic link, or not what it should be.",
            hint="Keys are read only from where they lie: put the real one in its place.",
        )
    return WalletError(
        f"{path} cannot be read: {(error.strerror or str(error)).lower()}.",
        hint="Give yourself permission to read it.",
    )


def signer_from_secret(text: str) -> Signer:
    """Return what signs with the key of ``suiprivkey1…``, as TIDEGATE_PRIVATE_KEY holds it.

    Raises:
        WalletError: the text is not a key; it is not repeated in the error.
    """
    return signer_of(key_pair_from_text(text))


def read_sui_keystore(path: Path, address: str | None = None) -> str:
    """Return one private key of a sui.keystore file, as the text that `KeyStore.import_key` takes.

    The file is a JSON array of base64 keys; it is read and never changed.

    Args:
        path: The file, ``~/.sui/sui_config/sui.keystore`` by custom.
        address: Whose key; needed only if the file holds several.

    Raises:
        BadAddress: `address` is not a Sui address.
        WalletError: the file cannot be read, is no keystore, or does not hold exactly one such key.
    """
    pairs = [key_pair_from_text(entry) for entry in _keystore_entries(path)]
    try:
        wanted = None if address is None else normalize_address(address)
    except ValueError:
        raise BadAddress(f"{(address or '')[:80]!r} is not a Sui address.") from None
    addresses = [pair.address for pair in pairs]
    texts = [pair.text() for pair in pairs if wanted in (None, pair.address)]
    for pair in pairs:
        pair.forget()
    if len(texts) == 1:
        return texts[0]
    raise WalletError(
        f"{path} holds no key of {wanted}." if wanted else f"{path} holds {len(texts)} keys.",
        hint=f"Name one of these addresses: {', '.join(addresses)}." if addresses else "Give another file.",
    )


def _keystore_entries(path: Path) -> Sequence[str]:
    try:
        with path.open("rb") as stream:
            entries = json.loads(stream.read(_MAX_KEYSTORE_BYTES))
    except OSError as error:
        raise WalletError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from error
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise WalletError(
            f"{path} is not a Sui keystore.",
            hint="It is a JSON array of keys, called sui.keystore by custom.",
        )
    return entries


def passphrase_required(network: str) -> bool:
    """Return whether a key for this network must be encrypted: everywhere but where money is play money.

    Args:
        network: As in the settings: a name, or a URL, which may be anything.
    """
    return network not in ("sandbox", "testnet")


def harden_process() -> None:
    """Keep this process's memory, with the keys in it, out of core dumps and debuggers, as far as can be.

    Core files are limited to nothing; on Linux the process is made undumpable too, so that other processes of
    the same user cannot attach to it. Where the system refuses, the process runs on without.
    """
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        import ctypes

        none = ctypes.c_ulong(0)
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, none, none, none, none)
