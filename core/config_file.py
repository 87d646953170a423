"""The configuration file as a TOML document: read exactly, changed without losing anything but comments."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

from tidegate.core.errors import ConfigError, StoreError
from tidegate.core.paths import ensure_private_dir

Document = dict[str, object]


def read_document(file: Path) -> Document:
    """Return what the file holds, decimals exact; an absent file is an empty one.

    Raises:
        ConfigError: it cannot be read, or is not TOML.
    """
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(
            f"{file} cannot be read: {(error.strerror or str(error)).lower()}.",
            hint="It holds your limits, so nothing runs without it. Make it readable, or move it away.",
        ) from error
    try:
        return tomllib.loads(content.decode(), parse_float=Decimal)
    except UnicodeDecodeError as error:
        before = content.count(b"\n", 0, error.start)
        raise _not_toml(file, before + 1, "it is not UTF-8 text") from None
    except (ValueError, ArithmeticError, RecursionError) as error:
        reason, line = _reason(error, content)
        raise _not_toml(file, line, reason) from None


def _reason(error: Exception, content: bytes) -> tuple[str, int | None]:
    if not isinstance(error, tomllib.TOMLDecodeError):
        return "a number is too long or tables are nested too deep", None
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", str(error), re.DOTALL)
    if match is None:
        return str(error), None
    return match[1], int(match[2]) if match[2] else content.count(b"\n") + 1


def _not_toml(file: Path, line: int | None, reason: str) -> ConfigError:
    where = "" if line is None else f", line {line}"
    return ConfigError(f"{file}{where}: {reason}.", hint="The file is TOML (https://toml.io). Correct it.")


@contextmanager
def edit_document(file: Path) -> Iterator[Document]:
    """Yield the document to be changed in place and write it when the block ends without an exception.

    Editors wait for each other; readers see the old file or the new one. A symbolic link is followed, so that
    a file kept elsewhere stays there.

    Raises:
        ConfigError: it cannot be read.
        StoreError: it cannot be written.
    """
    ensure_private_dir(file.parent)
    target = Path(os.path.realpath(file))
    try:
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _unwritable(file, error) from error
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        document = read_document(target)
        yield document
        _replace(target, document)
        os.fsync(folder)
    finally:
        os.close(folder)


def _replace(target: Path, document: Document) -> None:
    import tomli_w

    content = tomli_w.dumps(document).encode()
    try:
        descriptor, draft = tempfile.mkstemp(dir=target.parent, prefix=".config-")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                os.fchmod(stream.fileno(), 0o600)
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(draft, target)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise _unwritable(target, error) from error


def _unwritable(file: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{file} cannot be written: {(error.strerror or str(error)).lower()}.",
        hint="Nothing was changed. Free some space or give yourself permission to write there.",
    )


def find(table: Mapping[str, object], path: Sequence[str]) -> object:
    """Return what stands at a path of keys, or None."""
    found: object = table
    for key in path:
        if not isinstance(found, Mapping) or key not in found:
            return None
        found = found[key]
    return found


def place(document: Document, path: Sequence[str], value: object) -> None:
    """Put a value at a path of keys, making the tables on the way.

    Raises:
        ConfigError: something that is no table stands in the way.
    """
    table = document
    for depth, key in enumerate(path[:-1], start=1):
        inner = table.setdefault(key, {})
        if not isinstance(inner, dict):
            raise ConfigError(
                f"{'.'.join(path[:depth])} in the configuration is not a table.",
                hint="Remove it there first.",
            )
        table = inner
    table[path[-1]] = value
