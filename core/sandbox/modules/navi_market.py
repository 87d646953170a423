"""NAVI's lending market without the chain around it: reserves, users' balances, deposit, withdraw, health.

Source: naviprotocol/navi-smart-contracts, lending_core (storage, logic, validation, error). A failed check
raises `MoveAbort` with the contract's own module, function and code. One thing differs: where the contract
rounds a scaled balance half up, it is rounded against the user here, so that a deposit and a withdrawal in
the same second never pay out more than came in (on mainnet one unit of the ninth decimal can be won).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from tidegate.core.sandbox.modules.base import MoveAbort, State
from tidegate.core.sandbox.modules.lending_math import (
    RAY,
    RateCurve,
    accrue,
    power_of_ten,
    ray_div,
    ray_div_down,
    ray_div_up,
    ray_mul,
    utilisation,
)
from tidegate.core.tokens import normalize_address

ORIGINAL_PACKAGE = "0xd899cf7d2b5db716bd2cf55599fb0d5ee38a3061e7b6bb6eebf73fa5bc4c81ca"
"""First version of lending_core: types and aborts carry its id in every later one (Published.toml)."""

E_PAUSED = 1500
E_INVALID_PRICE = 1502
E_INVALID_AMOUNT = 1503
E_INVALID_COIN_TYPE = 1505
E_INSUFFICIENT_BALANCE = 1506
E_USER_IS_UNHEALTHY = 1600
E_USER_HAVE_NO_COLLATERAL = 1601
E_EXCEEDED_MAXIMUM_DEPOSIT_CAP = 1604

HEALTH_WITHOUT_DEBT = 2**256 - 1
"""Health factor of a user without debt: the largest u256."""

_DUST = 1_000
# dynamic_field.move: EFieldDoesNotExist, which a look-up of an unknown table key ends with.
_E_FIELD_DOES_NOT_EXIST = 1


def navi_abort(module: str, function: str, code: int) -> MoveAbort:
    """Return an abort of a lending_core module."""
    return MoveAbort(f"{ORIGINAL_PACKAGE}::{module}", function, code)


class PriceSource(Protocol):
    """Where the market asks for prices."""

    def __call__(self, oracle_id: int, /) -> tuple[bool, int, int]:
        """Return (valid, price in USD with `decimals` digits after the point, decimals)."""
        ...


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class TokenBalance(_Part):
    """Scaled amounts by user, and their sum (which also has what the treasury earned)."""

    user_state: dict[str, int] = Field(default_factory=dict)
    total_supply: int = 0

    def add(self, user: str, scaled: int) -> None:
        """Credit a user."""
        self.user_state[user] = self.user_state.get(user, 0) + scaled
        self.total_supply += scaled

    def subtract(self, user: str, scaled: int) -> None:
        """Debit a user.

        Raises:
            MoveAbort: the user has less.
        """
        held = self.user_state.get(user, 0)
        if held < scaled:
            raise navi_abort("storage", "decrease_balance", E_INSUFFICIENT_BALANCE)
        self.user_state[user] = held - scaled
        self.total_supply -= scaled


class Reserve(_Part):
    """One asset of the market; the fields are the contract's (rays, except where noted)."""

    oracle_id: int
    coin_type: str
    supply_cap_ceiling: int
    """Market amount times a ray."""
    borrow_cap_ceiling: int
    ltv: int
    treasury_factor: int
    base_rate: int
    multiplier: int
    jump_rate_multiplier: int
    reserve_factor: int
    optimal_utilization: int
    liquidation_ratio: int
    liquidation_bonus: int
    liquidation_threshold: int
    last_update_timestamp: int
    """Milliseconds."""
    current_supply_rate: int = 0
    current_borrow_rate: int = 0
    current_supply_index: int = RAY
    current_borrow_index: int = RAY
    treasury_balance: int = 0
    """Scaled."""
    supply_balance: TokenBalance = Field(default_factory=TokenBalance)
    borrow_balance: TokenBalance = Field(default_factory=TokenBalance)

    @property
    def curve(self) -> RateCurve:
        """The rate curve."""
        return RateCurve(
            self.base_rate,
            self.multiplier,
            self.jump_rate_multiplier,
            self.optimal_utilization,
            self.reserve_factor,
        )

    @property
    def supplied(self) -> int:
        """Market amount supplied, with interest."""
        return ray_mul(self.supply_balance.total_supply, self.current_supply_index)

    @property
    def borrowed(self) -> int:
        """Market amount borrowed, with interest."""
        return ray_mul(self.borrow_balance.total_supply, self.current_borrow_index)

    def supply_of(self, user: str) -> int:
        """Return a user's supply as a market amount, with interest up to the last update."""
        return ray_mul(self.supply_balance.user_state.get(user, 0), self.current_supply_index)

    def debt_of(self, user: str) -> int:
        """Return a user's debt as a market amount, with interest up to the last update."""
        return ray_mul(self.borrow_balance.user_state.get(user, 0), self.current_borrow_index)

    def update(self, now_ms: int) -> None:
        """Accrue interest up to now at the rates of the last action (logic::update_state)."""
        grown = accrue(
            seconds=(now_ms - self.last_update_timestamp) // 1000,
            supply_index=self.current_supply_index,
            borrow_index=self.current_borrow_index,
            supply_rate=self.current_supply_rate,
            borrow_rate=self.current_borrow_rate,
            scaled_borrow=self.borrow_balance.total_supply,
            reserve_factor=self.reserve_factor,
        )
        self.current_supply_index = grown.supply_index
        self.current_borrow_index = grown.borrow_index
        self.last_update_timestamp = now_ms
        self.treasury_balance += grown.treasury
        self.supply_balance.total_supply += grown.treasury

    def update_rates(self) -> None:
        """Set the rates that follow from what is supplied and borrowed now."""
        used = utilisation(self.supplied, self.borrowed)
        self.current_borrow_rate = self.curve.borrow_rate(used)
        self.current_supply_rate = self.curve.supply_rate(used)


class UserInfo(_Part):
    """Asset ids that a user supplied and borrowed."""

    collaterals: list[int] = Field(default_factory=list)
    loans: list[int] = Field(default_factory=list)


class Market(_Part):
    """The shared object ``storage::Storage``."""

    paused: bool = False
    reserves: dict[str, Reserve]
    """By asset id in decimal digits."""
    user_info: dict[str, UserInfo] = Field(default_factory=dict)

    @classmethod
    def load(cls, state: Mapping[str, object]) -> Market:
        """Return the market that an object's contents describe."""
        return cls.model_validate(state)

    def dump(self) -> State:
        """Return the market as an object's contents."""
        return self.model_dump()

    @property
    def reserves_count(self) -> int:
        """One more than the highest asset id."""
        return max(map(int, self.reserves), default=-1) + 1

    def reserve(self, asset: int) -> Reserve:
        """Return the reserve of an asset id.

        Raises:
            MoveAbort: there is none, as a table look-up ends in Move.
        """
        found = self.reserves.get(str(asset))
        if found is None:
            framework = normalize_address("0x2")
            raise MoveAbort(f"{framework}::dynamic_field", "borrow_child_object", _E_FIELD_DOES_NOT_EXIST)
        return found

    def user(self, user: str) -> UserInfo:
        """Return the asset ids of a user; nobody has none."""
        return self.user_info.get(user, UserInfo())

    def deposit(self, *, now_ms: int, asset: int, coin_type: str, user: str, amount: int) -> None:
        """Credit a deposit (logic::execute_deposit).

        Args:
            now_ms: The clock's time.
            asset: Asset id.
            coin_type: Type of the coin paid in.
            user: Owner of the deposit.
            amount: Market amount.

        Raises:
            MoveAbort: paused, wrong coin type, nothing deposited, or above the supply cap.
        """
        self._refuse_when_paused()
        for each in self.reserves.values():
            each.update(now_ms)
        reserve = self.reserve(asset)
        _check_coin_and_amount("validate_deposit", reserve, coin_type, amount)
        if reserve.supply_cap_ceiling < (reserve.supplied + amount) * RAY:
            raise navi_abort("validation", "validate_deposit", E_EXCEEDED_MAXIMUM_DEPOSIT_CAP)
        reserve.supply_balance.add(user, ray_div_down(amount, reserve.current_supply_index))
        info = self.user_info.setdefault(user, UserInfo())
        if asset not in info.collaterals:
            info.collaterals.append(asset)
        reserve.update_rates()

    def withdraw(
        self, *, now_ms: int, asset: int, coin_type: str, user: str, amount: int, prices: PriceSource
    ) -> int:
        """Debit a withdrawal and return the market amount to pay out (logic::execute_withdraw).

        Asking for more than the user has takes everything. What is left below 1,000 units goes to the
        treasury.

        Raises:
            MoveAbort: paused, no supply, wrong coin type, amount of zero, more than the pool has not lent, a
                price that is not valid, or debts that would be without cover.
        """
        self._refuse_when_paused()
        if not self.reserve(asset).supply_of(user):
            raise navi_abort("logic", "execute_withdraw", E_USER_HAVE_NO_COLLATERAL)
        info = self.user_info.setdefault(user, UserInfo())
        for each in [*info.collaterals, *info.loans]:
            self.reserve(each).update(now_ms)
        reserve = self.reserve(asset)
        _check_coin_and_amount("validate_withdraw", reserve, coin_type, amount)
        if reserve.supplied < reserve.borrowed + amount:
            raise navi_abort("validation", "validate_withdraw", E_INSUFFICIENT_BALANCE)
        held = reserve.supply_of(user)
        paid = min(amount, held)
        scaled = ray_div_up(paid, reserve.current_supply_index)
        reserve.supply_balance.subtract(user, min(scaled, reserve.supply_balance.user_state[user]))
        if self.health_factor(user, prices) < RAY:
            raise navi_abort("logic", "execute_withdraw", E_USER_IS_UNHEALTHY)
        if held - paid <= _DUST:
            reserve.treasury_balance += held - paid
            info.collaterals = [each for each in info.collaterals if each != asset]
        reserve.update_rates()
        return paid

    def health_factor(self, user: str, prices: PriceSource) -> int:
        """Return collateral value times average liquidation threshold over debt value, as a ray.

        Raises:
            MoveAbort: a price of the user's assets is not valid.
        """
        collateral = covered = 0
        info = self.user(user)
        for asset in info.collaterals:
            reserve = self.reserve(asset)
            value = _value(reserve.supply_of(user), reserve.oracle_id, prices)
            collateral += value
            covered += ray_mul(value, reserve.liquidation_threshold)
        debt = sum(
            _value(self.reserve(asset).debt_of(user), self.reserve(asset).oracle_id, prices)
            for asset in info.loans
        )
        if not debt:
            return HEALTH_WITHOUT_DEBT
        threshold = ray_div(covered, collateral) if collateral else 0
        return ray_mul(ray_div(collateral, debt), threshold)

    def _refuse_when_paused(self) -> None:
        if self.paused:
            raise navi_abort("storage", "when_not_paused", E_PAUSED)


class Pool(_Part):
    """The shared object ``pool::Pool<T>``: the coins of one reserve that are not lent, in base units."""

    balance: int
    treasury_balance: int
    decimal: int

    @classmethod
    def load(cls, state: Mapping[str, object]) -> Pool:
        """Return the pool that an object's contents describe."""
        return cls.model_validate(state)

    def dump(self) -> State:
        """Return the pool as an object's contents."""
        return self.model_dump()


def _check_coin_and_amount(function: str, reserve: Reserve, coin_type: str, amount: int) -> None:
    if coin_type != reserve.coin_type:
        raise navi_abort("validation", function, E_INVALID_COIN_TYPE)
    if not amount:
        raise navi_abort("validation", function, E_INVALID_AMOUNT)


def _value(amount: int, oracle_id: int, prices: PriceSource) -> int:
    valid, price, decimals = prices(oracle_id)
    if not valid:
        raise navi_abort("calculator", "calculate_value", E_INVALID_PRICE)
    return amount * price // power_of_ten(decimals)
