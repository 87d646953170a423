from __future__ import annotations

import importlib.util
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location("readme_tables", Path(__file__).with_name("readme_tables.py"))


def test_the_tables_say_what_the_code_says():
    assert _SPEC is not None
    assert _SPEC.loader is not None
    tables = importlib.util.module_from_spec(_SPEC)
    _SPEC.loader.exec_module(tables)
    text = tables.README.read_text()

    assert tables.rendered(text) == text, "run: python tests/readme_tables.py"
