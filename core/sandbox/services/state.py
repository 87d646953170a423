"""StateService: what an address owns now, and what a coin is."""

from __future__ import annotations

import pysui.sui.sui_grpc.suimsgs.sui.rpc.v2 as rpc

from tidegate.core.sandbox.encoding import BadEncoding
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.sandbox.masks import apply_mask
from tidegate.core.sandbox.messages import object_message
from tidegate.core.sandbox.movetypes import parse_type
from tidegate.core.sandbox.refusals import invalid, not_found
from tidegate.core.sandbox.services.base import Handlers, unary
from tidegate.core.sandbox.services.ledger import address_of

_OWNED_DEFAULT = ("object_id", "version", "object_type")
_DEFAULT_PAGE = 50
_MAX_PAGE = 1_000


class StateService:
    """Reads of live state."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def handlers(self) -> Handlers:
        """Return the handlers by path."""
        service = "/sui.rpc.v2.StateService"
        return {
            f"{service}/ListOwnedObjects": unary(
                self.list_owned_objects, rpc.ListOwnedObjectsRequest, rpc.ListOwnedObjectsResponse
            ),
            f"{service}/GetBalance": unary(self.get_balance, rpc.GetBalanceRequest, rpc.GetBalanceResponse),
            f"{service}/ListBalances": unary(
                self.list_balances, rpc.ListBalancesRequest, rpc.ListBalancesResponse
            ),
            f"{service}/GetCoinInfo": unary(
                self.get_coin_info, rpc.GetCoinInfoRequest, rpc.GetCoinInfoResponse
            ),
        }

    def list_owned_objects(self, request: rpc.ListOwnedObjectsRequest) -> rpc.ListOwnedObjectsResponse:
        """Return a page of an address's objects, perhaps of one type."""
        owner = address_of(request.owner, "owner")
        paths = request.read_mask.paths if request.read_mask else _OWNED_DEFAULT
        type_name = _type(request.object_type) if request.object_type else None
        size = _page_size(request.page_size)
        found = self._ledger.owned(owner, type_name, after=_page_token(request.page_token), limit=size + 1)
        page = found[:size]
        return rpc.ListOwnedObjectsResponse(
            objects=[apply_mask(object_message(item), paths) for item in page],
            next_page_token=page[-1].id.encode() if len(found) > size else None,
        )

    def get_balance(self, request: rpc.GetBalanceRequest) -> rpc.GetBalanceResponse:
        """Return how much of one coin an address has; zero when it never had any."""
        owner, coin_type = address_of(request.owner, "owner"), _type(request.coin_type)
        total = self._ledger.balances(owner).get(coin_type, 0)
        return rpc.GetBalanceResponse(balance=_balance(coin_type, total))

    def list_balances(self, request: rpc.ListBalancesRequest) -> rpc.ListBalancesResponse:
        """Return a page of an address's balances, in the order of coin types."""
        owner = address_of(request.owner, "owner")
        after = _page_token(request.page_token)
        size = _page_size(request.page_size)
        found = [item for item in sorted(self._ledger.balances(owner).items()) if item[0] > after]
        page = found[:size]
        return rpc.ListBalancesResponse(
            balances=[_balance(coin_type, total) for coin_type, total in page],
            next_page_token=page[-1][0].encode() if len(found) > size else None,
        )

    def get_coin_info(self, request: rpc.GetCoinInfoRequest) -> rpc.GetCoinInfoResponse:
        """Return the metadata of a coin type."""
        coin_type = _type(request.coin_type)
        found = self._ledger.coin_description(coin_type)
        if found is None:
            raise not_found(f"Coin type {coin_type} not found")
        object_id, description = found
        return rpc.GetCoinInfoResponse(
            coin_type=coin_type,
            metadata=rpc.CoinMetadata(
                id=object_id,
                decimals=description.decimals,
                name=description.name,
                symbol=description.symbol,
                description=description.description,
            ),
        )


def _balance(coin_type: str, total: int) -> rpc.Balance:
    return rpc.Balance(coin_type=coin_type, balance=total, address_balance=0, coin_balance=total)


def _type(text: str | None) -> str:
    try:
        return str(parse_type(text or ""))
    except BadEncoding as error:
        raise invalid(f"invalid type: {error}") from error


def _page_size(asked: int | None) -> int:
    return min(asked or _DEFAULT_PAGE, _MAX_PAGE)


def _page_token(token: bytes | None) -> str:
    return (token or b"").decode("ascii", errors="replace")
