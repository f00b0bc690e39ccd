# SPDX-License-Identifier: Apache-2.0
"""Hooks of the plugin, for a conftest.py."""

from __future__ import annotations

import pytest


def pytest_cuvmm_release(item: pytest.Item) -> None:
    """A test has ended, and what it holds is about to be looked at: free what a cache of yours keeps on purpose."""
