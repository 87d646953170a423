"""TransactionExecutionService and SignatureVerificationService."""

from __future__ import annotations

import asyncio

import pysui.sui.sui_grpc.suimsgs.sui.rpc.v2 as rpc

from tidegate.core.sandbox.ledger import Fault, Ledger
from tidegate.core.sandbox.masks import apply_mask
from tidegate.core.sandbox.node import execute_signed, simulate_request
from tidegate.core.sandbox.refusals import Refused, invalid, unimplemented
from tidegate.core.sandbox.services.base import Handlers, Silence, awaited, unary
from tidegate.core.sandbox.signatures import personal_message_intent, signer_of, transaction_intent
from tidegate.core.tokens import normalize_address

_EXECUTE_DEFAULT = ["effects.status", "checkpoint"]


class TransactionExecutionService:
    """Executes and simulates transactions."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def handlers(self) -> Handlers:
        """Return the handlers by path."""
        service = "/sui.rpc.v2.TransactionExecutionService"
        return {
            f"{service}/ExecuteTransaction": awaited(
                self.execute, rpc.ExecuteTransactionRequest, rpc.ExecuteTransactionResponse
            ),
            f"{service}/SimulateTransaction": unary(
                self.simulate, rpc.SimulateTransactionRequest, rpc.SimulateTransactionResponse
            ),
        }

    async def execute(self, request: rpc.ExecuteTransactionRequest) -> rpc.ExecuteTransactionResponse:
        """Execute a signed transaction; faults on the answer strike here, after it is recorded."""
        bcs = request.transaction.bcs if request.transaction else None
        if bcs is None or not bcs.value:
            raise unimplemented("a transaction to execute must be sent as BCS, which is what was signed")
        signatures = [signature_bytes(signature) for signature in request.signatures]
        executed = execute_signed(self._ledger, bcs.value, signatures)
        delay_ms = self._ledger.fault(Fault.DELAY)
        if delay_ms:
            await asyncio.sleep(delay_ms / 1000)
        if self._ledger.take_fault(Fault.DROP_RESPONSE):
            raise Silence
        paths = request.read_mask.paths if request.read_mask else _EXECUTE_DEFAULT
        return rpc.ExecuteTransactionResponse(transaction=apply_mask(executed, paths))

    def simulate(self, request: rpc.SimulateTransactionRequest) -> rpc.SimulateTransactionResponse:
        """Simulate a transaction."""
        response = simulate_request(self._ledger, request)
        return apply_mask(response, request.read_mask.paths if request.read_mask else ["*"])


class SignatureVerificationService:
    """Says whether a signature is good."""

    def handlers(self) -> Handlers:
        """Return the handlers by path."""
        return {
            "/sui.rpc.v2.SignatureVerificationService/VerifySignature": unary(
                self.verify, rpc.VerifySignatureRequest, rpc.VerifySignatureResponse
            )
        }

    def verify(self, request: rpc.VerifySignatureRequest) -> rpc.VerifySignatureResponse:
        """Check a signature over a transaction or a personal message, and whose it is."""
        message = request.message
        if message is None or message.value is None or request.signature is None:
            raise invalid("message and signature are required")
        if message.name == "PersonalMessage":
            intent = personal_message_intent(message.value)
        elif message.name == "TransactionData":
            intent = transaction_intent(message.value)
        else:
            raise invalid(f"message name {message.name!r} is neither PersonalMessage nor TransactionData")
        try:
            signer = signer_of(signature_bytes(request.signature), intent)
        except Refused as refused:
            return rpc.VerifySignatureResponse(is_valid=False, reason=refused.message)
        if request.address and normalize_address(request.address) != signer:
            reason = f"the signature is of {signer}, not of {request.address}"
            return rpc.VerifySignatureResponse(is_valid=False, reason=reason)
        return rpc.VerifySignatureResponse(is_valid=True)


def signature_bytes(signature: rpc.UserSignature) -> bytes:
    """Return a signature as flag, signature and public key.

    Raises:
        Refused: UNIMPLEMENTED for multisig, zkLogin and passkeys.
    """
    if signature.bcs is not None and signature.bcs.value:
        return signature.bcs.value
    simple = signature.simple
    if simple is None:
        raise unimplemented("only simple signatures are emulated")
    return bytes([int(simple.scheme or 0)]) + (simple.signature or b"") + (simple.public_key or b"")
