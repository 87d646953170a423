"""MovePackageService and NameService, as far as clients need them to build transactions."""

from __future__ import annotations

import pysui.sui.sui_grpc.suimsgs.sui.rpc.v2 as rpc

from tidegate.core.sandbox.modules import registry
from tidegate.core.sandbox.movetypes import MoveType, Parameter, parse_parameter
from tidegate.core.sandbox.refusals import not_found
from tidegate.core.sandbox.services.base import Handlers, unary
from tidegate.core.sandbox.services.ledger import address_of

_BODY = {
    "address": rpc.OpenSignatureBodyType.ADDRESS,
    "bool": rpc.OpenSignatureBodyType.BOOL,
    "u8": rpc.OpenSignatureBodyType.U8,
    "u16": rpc.OpenSignatureBodyType.U16,
    "u32": rpc.OpenSignatureBodyType.U32,
    "u64": rpc.OpenSignatureBodyType.U64,
    "u128": rpc.OpenSignatureBodyType.U128,
    "u256": rpc.OpenSignatureBodyType.U256,
    "vector": rpc.OpenSignatureBodyType.VECTOR,
}
_REFERENCE = {
    "": None,
    "&": rpc.OpenSignatureReference.IMMUTABLE,
    "&mut": rpc.OpenSignatureReference.MUTABLE,
}


class MovePackageService:
    """Signatures of the functions that the sandbox emulates."""

    def handlers(self) -> Handlers:
        """Return the handlers by path."""
        return {
            "/sui.rpc.v2.MovePackageService/GetFunction": unary(
                self.get_function, rpc.GetFunctionRequest, rpc.GetFunctionResponse
            )
        }

    def get_function(self, request: rpc.GetFunctionRequest) -> rpc.GetFunctionResponse:
        """Return a function's signature, without the transaction context that callers do not pass."""
        package = address_of(request.package_id, "package_id")
        found = registry.find_function(package, request.module_name or "", request.name or "")
        if found is None:
            raise not_found(f"Function {package}::{request.module_name}::{request.name} not found")
        return rpc.GetFunctionResponse(
            function=rpc.FunctionDescriptor(
                name=found.name,
                visibility=rpc.FunctionDescriptorVisibility.PUBLIC,
                is_entry=found.entry,
                type_parameters=[rpc.TypeParameter() for _ in range(found.type_parameters)],
                parameters=[_signature(parse_parameter(written)) for written in found.parameters],
                returns=[_signature(parse_parameter(written)) for written in found.returns],
            )
        )


def _signature(parameter: Parameter) -> rpc.OpenSignature:
    return rpc.OpenSignature(reference=_REFERENCE[parameter.reference], body=_body(parameter.type))


def _body(move_type: MoveType) -> rpc.OpenSignatureBody:
    inner = [_body(param) for param in move_type.params]
    if move_type.name in _BODY:
        return rpc.OpenSignatureBody(type=_BODY[move_type.name], type_parameter_instantiation=inner)
    if "::" not in move_type.name:
        kind = rpc.OpenSignatureBodyType.TYPE_PARAMETER
        return rpc.OpenSignatureBody(type=kind, type_parameter=int(move_type.name[1:]))
    return rpc.OpenSignatureBody(
        type=rpc.OpenSignatureBodyType.DATATYPE,
        type_name=move_type.name,
        type_parameter_instantiation=inner,
    )


class NameService:
    """SuiNS; the sandbox has no registry yet, so no name resolves."""

    def handlers(self) -> Handlers:
        """Return the handlers by path."""
        service = "/sui.rpc.v2.NameService"
        return {
            f"{service}/LookupName": unary(self.lookup, rpc.LookupNameRequest, rpc.LookupNameResponse),
            f"{service}/ReverseLookupName": unary(
                self.reverse_lookup, rpc.ReverseLookupNameRequest, rpc.ReverseLookupNameResponse
            ),
        }

    def lookup(self, request: rpc.LookupNameRequest) -> rpc.LookupNameResponse:
        """Answer that no such name is registered."""
        raise not_found(f"name {request.name!r} not found")

    def reverse_lookup(self, request: rpc.ReverseLookupNameRequest) -> rpc.ReverseLookupNameResponse:
        """Answer that the address has no name."""
        raise not_found(f"no name found for {request.address!r}")
