"""Small parts of requests to a node and of its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.core.chain.move_types import parse_move_type
from tidegate.core.chain.types import EpochInfo
from tidegate.core.errors import NetworkError

if TYPE_CHECKING:
    from pysui.sui.sui_grpc.suimsgs.google.protobuf import FieldMask
    from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc


def field_mask(*paths: str) -> FieldMask:
    """Return the mask that names the fields a request wants."""
    from pysui.sui.sui_grpc.suimsgs.google.protobuf import FieldMask

    return FieldMask(paths=list(paths))


def epoch_request() -> rpc.GetEpochRequest:
    """Return the request for the present epoch."""
    from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

    return rpc.GetEpochRequest(read_mask=field_mask("epoch", "reference_gas_price"))


def read_epoch(answer: rpc.GetEpochResponse) -> EpochInfo:
    """Return what `epoch_request` asked for.

    Raises:
        NetworkError: the answer lacks it.
    """
    epoch = answer.epoch
    if epoch is None or epoch.epoch is None or not epoch.reference_gas_price:
        raise NetworkError("The node does not say which epoch it is or what gas costs.", retryable=False)
    return EpochInfo(epoch.epoch, epoch.reference_gas_price)


def normal_type(text: str | None) -> str:
    """Return a Move type from a node in its normalised form.

    Raises:
        NetworkError: it is no Move type.
    """
    try:
        return str(parse_move_type(text or ""))
    except ValueError as error:
        raise NetworkError("The node names a Move type that cannot be read.", retryable=False) from error
