"""A small corpus with two plain topics, and the marks of a text that tries an embedder."""

import pytest

SPORT = [
    "The goalkeeper saved a penalty",
    "The striker scored two goals",
    "A goal in the last minute",
]
LAW = [
    "The court heard an appeal",
    "A judge dismissed the appeal",
    "The judge ruled for the tenant",
]


@pytest.fixture(scope="session")
def topics() -> list[str]:
    """Three sentences on football, then three on courts; many times over, lightly varied."""
    return SPORT + LAW


@pytest.fixture(scope="session")
def corpus() -> list[str]:
    return [f"{text} on day {day} of the season" for day in range(20) for text in SPORT + LAW]
