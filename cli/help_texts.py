from typing import Final
HELP: Final[dict[str,str]] = {}
BARE: Final[frozenset[str]] = frozenset()
