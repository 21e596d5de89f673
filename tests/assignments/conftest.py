"""Gradebooks here are made without a program of their own."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def gradebooks(quick_gradebooks: None) -> None:
    """See the fixture that it asks for."""
