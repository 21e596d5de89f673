"""Times as Moodle writes them, in whatever language: "Dienstag, 2. Dezember 2025, 10:37".

Only what can be read in one way is read. Days and months are told apart by all times of a list
together, and by the weekday; a word that nobody here knows makes a time unread, not guessed.
"""

import functools
import itertools
import re
from collections.abc import Sequence
from datetime import date, datetime

from babel import Locale

_LANGUAGES = re.findall(
    r"\w+",
    "en de fr es it nl pt pl cs sk sl hr ro hu sv da nb fi et lv lt ca eu gl el tr uk ru bg sr ar"
    " he fa hi id vi th ko ja zh",
)
_FILLING = frozenset(
    re.findall(
        r"\w+",
        "de del of a à às as um uhr kl at o el le den dne il la les los klo г h στις ob в saat ngày"
        " 年 月 日 년 월 일",
    )
)
"""Words between the parts of a date that say nothing."""
_CLOCK = re.compile(
    r"(?P<before>上午|下午|오전|오후)?\s*(?<!\d)(?P<hour>\d{1,2})\s*[:h]\s*(?P<minute>\d{2})"
    r"(?::(?P<second>\d{2}))?\s*(?P<after>[ap]\.?\s?m\b\.?)?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_DOTTED = re.compile(r"\d\.\s*\d{1,2}\.\s*\d{4}")
"""Where dots stand between numbers the day comes first."""
_ORDERS = ("dmy", "mdy", "ymd")


def read_times(texts: Sequence[str]) -> list[datetime | None]:
    """Times of one column, in this machine's zone; None for each that cannot be read, or in two
    ways."""
    readings = [_readings(text) for text in texts]
    written = [reading for reading in readings if reading]
    orders = [
        order for order in _ORDERS if written and all(order in reading for reading in written)
    ]
    found = []
    for reading in readings:
        times = {reading[order] for order in (orders or reading) if order in reading}
        found.append(times.pop() if len(times) == 1 else None)
    return found


def ending_in_a_time(text: str) -> datetime | None:
    """The time that a text ends with; None if that cannot be read, or in two ways."""
    for found in re.finditer(r"\b\w", text):
        (time,) = read_times([text[found.start() :]])
        if time is not None:
            return time
    return None


def _readings(text: str) -> dict[str, datetime]:
    """What a time can mean, for each order of day, month and year."""
    try:
        stated = datetime.fromisoformat(text.strip())
        return dict.fromkeys(_ORDERS, stated.astimezone())
    except ValueError:
        pass
    clock = _CLOCK.search(text)
    if clock is None:
        return {}
    hour, half = int(clock["hour"]), (clock["before"] or clock["after"] or "").casefold()
    if half:
        hour = hour % 12 + 12 * (half[0] in "p下" or half == "오후")
    rest = f"{text[: clock.start()]} {text[clock.end() :]}".casefold()
    numbers = [int(number) for number in re.findall(r"\d+", rest)]
    words = set(_WORD.findall(rest)) - _FILLING
    days, months = _names()
    named = {frozenset(months[word]) for word in words if word in months}
    weekdays = [days[word] for word in words if word in days]
    if any(word not in months and word not in days for word in words):
        return {}
    if len(named) > 1 or len(numbers) != 3 - len(named):
        return {}
    found = {}
    for order in _ORDERS[:1] if _DOTTED.search(rest) else _ORDERS:
        for month in next(iter(named), {0}):
            parts = list(numbers)
            if month:
                parts.insert(order.index("m"), month)
            made = _moment(dict(zip(order, parts, strict=True)), hour, clock)
            if made and all(made.weekday() in day for day in weekdays):
                if order in found:
                    return {}
                found[order] = made
    return found


def _moment(parts: dict[str, int], hour: int, clock: re.Match[str]) -> datetime | None:
    if not 2000 <= parts["y"] < 2100:
        return None
    try:
        day = date(parts["y"], parts["m"], parts["d"])
        minute, second = int(clock["minute"]), int(clock["second"] or 0)
        return datetime(day.year, day.month, day.day, hour, minute, second).astimezone()
    except ValueError:
        return None


@functools.cache
def _names() -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    """Names of weekdays (Monday is 0) and of months, in all languages: some mean two."""
    days: dict[str, set[int]] = {}
    months: dict[str, set[int]] = {}
    for language, form in itertools.product(_LANGUAGES, ("format", "stand-alone")):
        locale = Locale(language)
        for names, kinds in ((days, locale.days), (months, locale.months)):
            for width in ("wide", "abbreviated"):
                for number, name in kinds[form][width].items():
                    for word in set(_WORD.findall(name.casefold())) - _FILLING:
                        names.setdefault(word, set()).add(number)
    return days, months
