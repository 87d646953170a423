"""Cetus: what its pools give for an amount, and swaps by its aggregator's router.

Sources: shared/spec/chain.md (router calls and arguments); the published bytecode of Cetus' CLMM package,
module pool (`CalculatedSwapResult`), and of the aggregator's router.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext

from tidegate.core.chain.deployments import CLOCK, Cetus, CetusPool
from tidegate.core.chain.move_values import Fields, read_uint
from tidegate.core.chain.types import MoveFailure, Network, Ptb, SwapHop, SwapQuote
from tidegate.core.errors import (
    BadAmount,
    InspectionAborted,
    NetworkError,
    Refused,
    SimulationFailed,
    UsageError,
)
from tidegate.core.money import MAX_U64, Amount
from tidegate.core.tokens import Token, normalize_address

DEX = "CETUS"

_Q128 = 1 << 128
_NO_FEE = 0
_NOBODY = normalize_address("0x0")
_QUOTE_ID = "tidegate"
_IMPACT_PLACES = Decimal("0.0001")

_ABORTS = {
    "err_amount_out_slippage_check_failed": "The price has moved: less comes out than the slippage allows.",
    "err_amount_in_is_zero": "Nothing would be swapped.",
}
"""By function of the router's module `errors`, each of which aborts itself."""


def quote_exact_in(network: Network, amount_in: Amount, token_out: Token) -> SwapQuote:
    """Return what an amount gives now.

    Args:
        network: Where Cetus is.
        amount_in: What is paid, the pool's fee included.
        token_out: What is to be received.

    Raises:
        UsageError: Cetus is not set up on this network, or has no pool for the pair.
        BadAmount: so little is paid that nothing comes out.
        Refused: the pool does not hold enough.
        NetworkError: it could not be asked.
    """
    place = _find(network, amount_in.token, token_out)
    answer = _ask(network, place, amount_in.base, by_amount_in=True)
    if not answer.amount_out:
        raise BadAmount(f"{amount_in} is too little to give any {token_out.symbol}.", hint="Swap more.")
    return _quote(place, answer, amount_in, Amount(token_out, answer.amount_out))


def quote_exact_out(network: Network, token_in: Token, amount_out: Amount) -> SwapQuote:
    """Return what must be paid now for an amount.

    Args:
        network: Where Cetus is.
        token_in: What is paid.
        amount_out: What is to be received.

    Raises:
        UsageError: Cetus is not set up on this network, or has no pool for the pair.
        Refused: the pool does not hold enough.
        NetworkError: it could not be asked.
    """
    place = _find(network, token_in, amount_out.token)
    answer = _ask(network, place, amount_out.base, by_amount_in=False)
    return _quote(place, answer, Amount(token_in, answer.amount_in + answer.fee), amount_out)


def swap(network: Network, ptb: Ptb, quote: SwapQuote, min_out: int) -> None:
    """Add a swap of the sender's; the contract refuses to give less than `min_out`.

    Args:
        network: Where Cetus is.
        ptb: The transaction.
        quote: What is swapped, and where.
        min_out: Least output in base units.

    Raises:
        UsageError: Cetus is not set up on this network.
        InsufficientBalance: the sender's coins hold less.
    """
    cetus = _deployment(network)
    paid, received = quote.amount_in, quote.amount_out
    (context,) = ptb.call(
        f"{cetus.router_package}::router::new_swap_context",
        (
            ptb.pure_string(_QUOTE_ID),
            ptb.pure_u64(received.base),
            ptb.pure_u64(min_out),
            ptb.coin(paid),
            ptb.pure_u32(_NO_FEE),
            ptb.pure_address(_NOBODY),
        ),
        (paid.token.coin_type, received.token.coin_type),
    )
    (hop,) = quote.hops
    coins = (hop.coin_in, hop.coin_out) if hop.a_to_b else (hop.coin_out, hop.coin_in)
    ptb.call(
        f"{cetus.adapter_package}::cetus::swap",
        (
            context,
            ptb.shared(cetus.global_config, mutable=False),
            ptb.shared(hop.pool, mutable=True),
            ptb.shared(cetus.partner, mutable=True),
            ptb.pure_bool(hop.a_to_b),
            ptb.pure_u64(paid.base),
            ptb.shared(CLOCK, mutable=False),
        ),
        coins,
        results=0,
    )
    out = ptb.call(f"{cetus.router_package}::router::confirm_swap", (context,), (received.token.coin_type,))
    ptb.call(
        f"{cetus.router_package}::router::transfer_or_destroy_coin",
        out,
        (received.token.coin_type,),
        results=0,
    )


def explain_abort(failure: MoveFailure) -> str | None:
    """Return in words why Cetus refused, or None for a failure that is not known to be the router's."""
    if failure.module != "errors" or failure.function is None:
        return None
    return _ABORTS.get(failure.function)


@dataclass(frozen=True, slots=True)
class _Place:
    """A pool, and the direction in it."""

    cetus: Cetus
    pool: CetusPool
    paid: Token
    a_to_b: bool


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a pool said; base units."""

    amount_in: int
    """Without the fee."""
    amount_out: int
    fee: int
    fee_rate: int
    sqrt_price: int
    """Before the swap: square root of coin B per coin A, Q64.64."""


def _ask(network: Network, place: _Place, base: int, *, by_amount_in: bool) -> _Answer:
    types = (place.pool.coin_a, place.pool.coin_b)
    package = place.cetus.clmm_package

    def build(ptb: Ptb) -> None:
        pool = ptb.shared(place.pool.pool, mutable=False)
        ptb.call(f"{package}::pool::current_sqrt_price", (pool,), types)
        ptb.call(
            f"{package}::pool::calculate_swap_result",
            (pool, ptb.pure_bool(place.a_to_b), ptb.pure_bool(by_amount_in), ptb.pure_u64(base)),
            types,
        )

    try:
        (price,), (result,) = network.inspect(build)
    except InspectionAborted as error:
        # The pool computes only; what stops it is an amount that it cannot give.
        raise Refused(
            f"The pool cannot make this swap: {error.message}", hint="Swap a smaller amount."
        ) from error
    except SimulationFailed as error:
        raise NetworkError(f"Cetus could not be asked: {error.message}") from error
    fields = Fields(result)
    answer = _Answer(
        amount_in=fields.uint(64),
        amount_out=fields.uint(64),
        fee=fields.uint(64),
        fee_rate=fields.uint(64),
        sqrt_price=read_uint(price),
    )
    fields.uint(128)  # the price after the swap
    if fields.uint(8) or answer.amount_in + answer.fee > MAX_U64:
        raise Refused("The pool does not hold enough for this swap.", hint="Swap a smaller amount.")
    return answer


def _quote(place: _Place, answer: _Answer, amount_in: Amount, amount_out: Amount) -> SwapQuote:
    return SwapQuote(
        amount_in=amount_in,
        amount_out=amount_out,
        fee=Amount(place.paid, answer.fee),
        price_impact=_price_impact(answer, a_to_b=place.a_to_b),
        hops=(
            SwapHop(
                dex=DEX,
                pool=place.pool.pool,
                coin_in=amount_in.token.coin_type,
                coin_out=amount_out.token.coin_type,
                a_to_b=place.a_to_b,
                fee_rate=answer.fee_rate,
            ),
        ),
    )


def _price_impact(answer: _Answer, *, a_to_b: bool) -> Decimal:
    """Return the percent of the mid price that is lost: 1 - out / (in * price), the fee apart.

    The price of A in B is (sqrt_price / 2^64)^2, in base units.
    """
    squared = answer.sqrt_price**2
    numerator, denominator = (squared, _Q128) if a_to_b else (_Q128, squared)
    with localcontext() as context:
        context.prec = 60
        at_mid = Decimal(answer.amount_in * numerator) / denominator
        lost = 1 - answer.amount_out / at_mid if at_mid else Decimal(0)
        return max(Decimal(0), lost * 100).quantize(_IMPACT_PLACES)


def _find(network: Network, paid: Token, received: Token) -> _Place:
    cetus = _deployment(network)
    wanted = {paid.coin_type, received.coin_type}
    for pool in cetus.pools:
        if {pool.coin_a, pool.coin_b} == wanted:
            return _Place(cetus, pool, paid, a_to_b=pool.coin_a == paid.coin_type)
    raise UsageError(
        f"There is no pool that swaps {paid.symbol} to {received.symbol} on {network.name}.",
        hint="Swap by way of USDC or SUI, if there are pools for those.",
    )


def _deployment(network: Network) -> Cetus:
    cetus = network.deployment.cetus
    if cetus is None:
        raise UsageError(
            f"Swaps are not set up on {network.name}.", hint="Use --network sandbox, which has a pool."
        )
    return cetus
