"""Everything a command runs on, put together from settings; each part is made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from importlib.metadata import version
from threading import Lock, RLock
from typing import TYPE_CHECKING

from tidegate.core.cancel import Cancel
from tidegate.core.chain.token_book import TokenBook
from tidegate.core.chain.types import Network, Signer
from tidegate.core.clock import Clock, Ids, system_clock, system_ids
from tidegate.core.errors import WalletMissing
from tidegate.core.money import Amount
from tidegate.core.paths import Paths
from tidegate.core.policy.presets import Preset, load_preset
from tidegate.core.policy.types import SettledCall
from tidegate.core.providers.base import Provider
from tidegate.core.settings import Secrets, Settings, load_settings
from tidegate.core.store.base import Store
from tidegate.core.tokens import SUI, USDC
from tidegate.core.tools.base import Prices, Tool, ToolContext
from tidegate.core.tools.registry import all_tools
from tidegate.core.writes.types import Road

if TYPE_CHECKING:
    from tidegate.core.chain.wallet import KeyStore

SANDBOX = "sandbox"

SANDBOX_GRANT = (Amount(SUI, 100 * 10**9), Amount(USDC, 1_000 * 10**6))
"""What a wallet finds on the embedded network when it is first used there."""


class Runtime:
    """The composition root. Not shared between threads but for `network`, `tokens` and `prices`."""

    def __init__(
        self,
        settings: Settings,
        secrets: Secrets,
        sources: Mapping[str, str],
        paths: Paths,
        clock: Clock,
        ids: Ids,
        tools: Sequence[Tool] | None = None,
    ) -> None:
        self.settings = settings
        self.secrets = secrets
        self.sources = sources
        self.paths = paths
        self.clock = clock
        self.ids = ids
        self.tools: tuple[Tool, ...] = tuple(all_tools() if tools is None else tools)
        self.preset: Preset | None = None
        if settings.preset_name is not None:
            self.preset = load_preset(settings.preset_name, settings.presets)
        self.on_bug: Callable[[BaseException], None] = lambda error: None
        """Told of every exception that is a bug of ours, for a traceback where somebody wants one."""
        self._lock = RLock()
        self._closing = Lock()
        self._store: Store | None = None
        self._network: Network | None = None
        self._tokens: TokenBook | None = None
        self._prices: Prices | None = None
        self._provider: Provider | None = None
        self._signer: Signer | None = None
        self._funded = False

    @property
    def store(self) -> Store:
        """The store of this user, opened on first use."""
        with self._lock:
            if self._store is None:
                from tidegate.core.store.open import open_store

                self._store = open_store(self.paths.store_file)
            return self._store

    def network(self) -> Network:
        """Return the network, opened on first use; on the sandbox the wallet finds coins there."""
        with self._lock:
            if not self._funded:
                self._fund_on_sandbox()
                self._funded = True
            return self.market()

    def market(self) -> Network:
        """Return the network for what needs no wallet: none is made or funded for it."""
        with self._lock:
            if self._network is None:
                from tidegate.core.chain.network import open_network

                self._network = open_network(
                    self.settings.network,
                    state_dir=self.paths.state_dir,
                    clock=self.clock,
                    timeout_s=float(self.settings.network_timeout_s),
                )
            return self._network

    def tokens(self) -> TokenBook:
        """Return the tokens of the network."""
        with self._lock:
            if self._tokens is None:
                self._tokens = TokenBook(self.market())
            return self._tokens

    def prices(self) -> Prices:
        """Return the price book of the network."""
        with self._lock:
            if self._prices is None:
                from tidegate.core.chain.prices import OnChainPrices

                self._prices = OnChainPrices(self.market(), self.clock)
            return self._prices

    def provider(self) -> Provider:
        """Return the model provider.

        Raises:
            ConfigError: it cannot be used as it is configured.
        """
        with self._lock:
            if self._provider is None:
                from tidegate.core.providers.open import open_provider

                key = self.secrets.anthropic_api_key
                self._provider = open_provider(
                    self.settings.provider,
                    model=self.settings.model,
                    api_key=None if key is None else key.get_secret_value(),
                    base_url=self.settings.anthropic_base_url,
                )
            return self._provider

    def keystore(self) -> KeyStore:
        """Return the folder of keys."""
        from tidegate.core.chain.wallet import KeyStore

        return KeyStore(self.paths.keys_dir)

    def address(self) -> str | None:
        """Return the wallet's address, or None when there is none; on the sandbox one is made.

        Raises:
            WalletError: the key cannot be read.
        """
        with self._lock:
            if self.secrets.private_key is not None:
                return self.signer().address
            keys, name = self.keystore(), self.settings.wallet_name
            try:
                return keys.info(name).address
            except WalletMissing:
                if self.settings.network != SANDBOX or self.settings.wallet is not None:
                    return None
            return keys.ensure(name).address

    def signer(self) -> Signer:
        """Return the unlocked key.

        Raises:
            WalletError: there is none, or it cannot be unlocked.
        """
        with self._lock:
            if self._signer is None:
                from tidegate.core.chain.wallet import signer_from_secret

                secret, passphrase = self.secrets.private_key, self.secrets.passphrase
                if secret is not None:
                    self._signer = signer_from_secret(secret.get_secret_value())
                else:
                    self._signer = self.keystore().load(
                        self.settings.wallet_name,
                        None if passphrase is None else passphrase.get_secret_value(),
                    )
            return self._signer

    def tool_context(self, history: Sequence[SettledCall], cancel: Cancel) -> ToolContext:
        """Return what tools of one turn may use."""
        return ToolContext(
            network=self.network,
            tokens=self.tokens,
            prices=self.prices,
            wallet=self.address(),
            contacts=self.store.contacts,
            clock=self.clock,
            history=history,
            cancelled=cancel,
        )

    def quote_context(self) -> ToolContext:
        """Return what a quote may use: the network, and no wallet."""
        return ToolContext(
            network=self.market,
            tokens=self.tokens,
            prices=self.prices,
            wallet=None,
            contacts=self.store.contacts,
            clock=self.clock,
        )

    def road(
        self,
        *,
        session_id: str,
        turn: int,
        history: Sequence[SettledCall],
        cancel: Cancel,
        dry_run: bool,
    ) -> Road:
        """Return the write road of one turn.

        Raises:
            WalletMissing: there is no wallet to write with.
        """
        wallet = self.address()
        if wallet is None:
            raise WalletMissing(f"There is no wallet for {self.settings.network}.")
        return Road(
            store=self.store,
            network=self.network(),
            context=self.tool_context(history, cancel),
            wallet=wallet,
            signer=self.signer,
            has_key=True,
            preset=self.preset,
            disabled_guards=frozenset(self.settings.disabled_guards),
            clock=self.clock,
            ids=self.ids,
            session_id=session_id,
            turn=turn,
            approval_ms=self.settings.approval_minutes * 60_000,
            cancel=cancel,
            dry_run=dry_run,
            sandbox=self.settings.network == SANDBOX,
        )

    def close(self) -> None:
        """Let go of everything that was opened."""
        with self._closing:
            provider, network, store = self._provider, self._network, self._store
            self._provider = self._network = self._store = None
            if provider is not None:
                provider.close()
            if network is not None:
                network.close()
            if store is not None:
                store.close()

    def _fund_on_sandbox(self) -> None:
        wallet = self.address() if self.settings.network == SANDBOX else None
        if wallet is None:
            return
        from tidegate.core.chain.network import open_sandbox_ledger
        from tidegate.core.sandbox.controls import fund_once

        with closing(open_sandbox_ledger(self.paths.state_dir, self.clock)) as ledger:
            fund_once(ledger, wallet, {amount.token.coin_type: amount.base for amount in SANDBOX_GRANT})


def open_runtime(
    *,
    environ: Mapping[str, str],
    flags: Mapping[str, str | None],
    clock: Clock | None = None,
    ids: Ids | None = None,
) -> Runtime:
    """Return a runtime for these settings; nothing is opened or written yet.

    Args:
        environ: The process's environment.
        flags: Settings given on the command line; None is not given.
        clock: The machine's clock if not given.
        ids: Random ids if not given.

    Raises:
        ConfigError: a setting is unknown or has a bad value.
    """
    paths = Paths.from_environ(environ)
    loaded = load_settings(environ, flags, paths)
    return Runtime(
        settings=loaded.settings,
        secrets=loaded.secrets,
        sources=loaded.sources,
        paths=paths,
        clock=clock or system_clock(),
        ids=ids or system_ids,
    )


def package_version() -> str:
    """Return the installed version of tidegate."""
    return version("tidegate")
