"""Reservations out of the daily limit in SQLite."""

from __future__ import annotations

import sqlite3
from decimal import Decimal

from tidegate.core.money import ZERO_USD, Usd
from tidegate.core.store.base import Spend
from tidegate.core.store.database import Database
from tidegate.core.store.exact import check_day


class SqliteSpend(Spend):
    """See `tidegate.core.store.base.Spend`.

    Dollars are decimal text and are added here, under the write lock: SQLite would add them as floats.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def reserve(self, attempt_id: str, wallet: str, day: str, usd: Usd, limit: Usd) -> bool:
        check_day(day)
        if usd < ZERO_USD:
            raise ValueError(f"{usd} cannot be reserved: it would raise the limit")
        with self._database.write() as connection:
            before = connection.execute(
                "SELECT wallet, usd, released FROM reservations WHERE attempt_id = ?", (attempt_id,)
            ).fetchone()
            if before is not None:
                if (before[0], Decimal(before[1])) != (wallet, usd.value):
                    raise ValueError(f"attempt {attempt_id} has reserved another sum")
                return not before[2]
            counted = _counted_day(connection, wallet, day)
            if _sum(connection, wallet, counted) + usd > limit:
                return False
            connection.execute(
                "INSERT INTO reservations (attempt_id, wallet, day, usd) VALUES (?, ?, ?, ?)",
                (attempt_id, wallet, counted, str(usd.value)),
            )
        return True

    def release(self, attempt_id: str) -> None:
        with self._database.write() as connection:
            connection.execute("UPDATE reservations SET released = 1 WHERE attempt_id = ?", (attempt_id,))

    def spent(self, wallet: str, day: str) -> Usd:
        check_day(day)
        with self._database.read() as connection:
            return _sum(connection, wallet, _counted_day(connection, wallet, day))


def _counted_day(connection: sqlite3.Connection, wallet: str, day: str) -> str:
    newest = connection.execute("SELECT max(day) FROM reservations WHERE wallet = ?", (wallet,)).fetchone()[0]
    return day if newest is None else max(day, str(newest))


def _sum(connection: sqlite3.Connection, wallet: str, day: str) -> Usd:
    rows = connection.execute(
        "SELECT usd FROM reservations WHERE wallet = ? AND day = ? AND released = 0", (wallet, day)
    )
    return sum((Usd(Decimal(usd)) for (usd,) in rows), ZERO_USD)
