"""Text that came from elsewhere, made safe to show on a terminal."""

from __future__ import annotations

import unicodedata

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Letters and marks that leave no ink, so that two names that differ in them look the same."""

_VARIATION_SUPPLEMENT = range(0xE0100, 0xE01F0)


def visible(text: str) -> str:
    """Return text of several lines with everything that is not seen, or moves what is seen, spelled out.

    Controls other than line feed and tab, bidirectional and zero-width characters, unassigned and private
    ones and blanks that pass for letters become ``\\x1b``, ``\\u202e`` or ``\\U000e0041``.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in "\n\t" or not _hidden(char) else _escape(char) for char in text)


def visible_line(text: str) -> str:
    """Return `visible` text on one line: line feeds and tabs are spelled out too."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(char) if _hidden(char) else char for char in text)


def visible_json(line: str) -> str:
    """Return a line of JSON that means the same and hides nothing when a terminal shows it.

    Args:
        line: One JSON value without raw control characters; what it hides can only stand in its strings.
    """
    if line.isascii():
        return line
    return "".join(_json_escape(char) if _hidden(char) else char for char in line)


def _hidden(char: str) -> bool:
    if " " <= char <= "~":
        return False
    return (
        unicodedata.category(char) in _HIDDEN_CATEGORIES
        or char in _BLANKS
        or ord(char) in _VARIATION_SUPPLEMENT
    )


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
