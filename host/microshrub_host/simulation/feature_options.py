"""The option --features, such as window=64 bands=0.5-3,3-8, as values.

The device counts in readings and in frequencies of its window; this module converts from hertz.
feature_choice.py chooses the settings that are not given.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..base.errors import UserError
from ..base.text import did_you_mean, settings
from ..streams.stream import MAX_FEATURES, Extraction
from . import feature_choice
from .feature_choice import (
    MOST_READINGS,
    WINDOWS,
    Place,
    Work,
    band_edges,
    hop_for,
    turn_lags,
    window_for,
    window_of,
)

# Names as in features.py; defaults for windows with bands, and for windows without
STATISTICS = ("mean", "deviation", "min", "max", "crossings", "energy", "form", "mobility")
_WITH_BANDS = ("mean", "deviation", "crossings", "form", "mobility")
_ALONE = STATISTICS[:6]
TONES = ("peak", "tone", "overtone")  # in addition to bands=auto, as in feature_extractor.py
AUTO, NONE, ALL = "auto", "none", "all"
_SETTINGS: dict[str, Any] = {
    "window": None, "hop": None, "statistics": "auto", "bands": None, "low-pass": None,
    "high-pass": None, "band-pass": None, "plain": "", "zero": None, "rate": None, "turns": AUTO,
    "scale": AUTO, "resample": None,
}  # fmt: skip
_BAND = re.compile(r"(\d+\.?\d*|\.\d+)-(\d+\.?\d*|\.\d+)")

Band = tuple[float, float]
NOWHERE = Place()


@dataclass(frozen=True)
class FeatureOptions:
    """The settings behind --features. Bands and cut-offs are in hertz, in the order given."""

    window: int
    hop: int
    statistics: tuple[int, ...]  # indices in STATISTICS
    bands: tuple[Band, ...]
    chosen: tuple[tuple[int, int], ...]  # frequencies of bands=auto, in rate / window
    tones: tuple[str, ...]  # with bands=auto: TONES, if there is room
    filters: tuple[tuple[str, float], ...]  # high or low, and the cut-off
    plain: tuple[str, ...]  # channels whose last reading is itself a feature
    zero: tuple[int, ...]  # one for all channels, or one each; empty: the sensor's
    rate: float | None  # readings a second; None: the sensor's
    turns: str  # pairs of channels whose sense of rotation is a feature, see _turns()
    scale: tuple[float, ...] = ()  # one for all channels, or one each; empty: from the recording
    resample: float | None = None  # readings a second after resampling

    @classmethod
    def of(cls, words: Sequence[str], place: Place = NOWHERE) -> FeatureOptions:
        """Return the options that the words give, with defaults that suit the place.

        Raises UserError.
        """
        result = settings("--features", words, _SETTINGS)
        resample = result["resample"] and _number("resample", result["resample"])
        rate = place.rate if result["rate"] is None else _number("rate", result["rate"])
        if resample and result["rate"] is not None and rate != resample:
            raise UserError(f"--features rate={rate:g}: resample={resample:g} is the rate")
        rate = resample or rate
        given, auto = result["window"], result["window"] in (None, AUTO)
        window = window_for(rate or place.about) if auto else _whole("window", given)
        if auto and 0 < place.readings < window:
            window = window_of(place.readings)
        plain = tuple(name for name in str(result["plain"]).split(",") if name)
        usual = AUTO if auto and window in WINDOWS else NONE
        wanted = result["bands"] or usual
        bands = _bands(wanted, window)
        statistics = _statistics(result["statistics"], wanted != NONE) if window > 1 else ()
        made = max(len(place.channels) - len(plain), 1)  # channels with windows
        room = (MAX_FEATURES - len(plain)) // made - len(statistics)
        tones = TONES if wanted == AUTO and room > len(TONES) else ()
        room -= len(tones)
        chosen = tuple(band_edges(window, room)) if wanted == AUTO and room > 0 else ()
        hop = result["hop"]
        is_chosen = hop == AUTO or (auto and hop is None)  # computed below: features take time
        if hop in (None, AUTO):
            hop = max(window // 2, 1)
        options = cls(
            window=window,
            hop=_whole("hop", hop),
            statistics=statistics,
            bands=bands,
            chosen=chosen,
            tones=tones,
            filters=_filters(result),
            plain=plain,
            zero=_zero(result["zero"]),
            rate=rate,
            turns=_turns_text(result, window),
            scale=_factors(result["scale"]),
            resample=resample,
        )
        if is_chosen:
            work = options.work(place.channels)
            options = replace(options, hop=hop_for(work, rate or place.about, place.time))
        return options

    def work(self, channels: Sequence[str]) -> Work:
        """Return the contents of a sample; no channels count as one channel without turns."""
        if not channels:
            return replace(self, turns=NONE).work(("",))
        turns = len(self._turns(channels)) * len(self._lags(channels))
        return Work(
            max(len(channels) - len(self.plain), 1),
            self.window,
            bool(self.statistics),
            bool(self.bands or self.chosen),
            len(self.names(channels)),
            turns,
        )

    def extraction(
        self, channels: Sequence[str], rate: float | None = None, zero: Sequence[int] = (0,)
    ) -> Extraction:
        """Return the extraction for a board whose readings have these channels.

        rate and zero are the sensor's, where they are known. Raises UserError.
        """
        if self.rate and rate and self.rate != rate:
            raise UserError(
                f"--features rate={self.rate:g}: the sensor gives {rate:g} readings a second"
            )
        rate = self.rate or rate
        if not rate and (self.bands or self.filters):
            raise UserError(
                "--features: bands and filters depend on the readings a second. Say how many "
                "there are: rate=100"
            )
        bands = [_bins(band, self.window, rate or 1) for band in self.bands]
        options = {
            "window": self.window,
            "hop": self.hop,
            "zero": self._zeros(len(channels), zero),
            "filters": [_filter(form, cut_off, rate or 1) for form, cut_off in self.filters],
            "statistics": list(self.statistics),
            "bands": [*bands, *map(list, self.chosen)],
            **({"relative": True} if self.chosen else {}),
            **({"tones": True} if self.tones else {}),
            "plain": [self._place(name, channels) for name in self.plain],
        }
        if pairs := self._turns(channels):
            options["turns"] = [[channels.index(name) for name in pair] for pair in pairs]
            options["lags"] = self._lags(channels)
        self._check_count(channels)
        return Extraction(tuple(channels), rate, options)

    def names(self, channels: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the features, in their order."""
        lags = [str(lag) if lag > 1 else "" for lag in self._lags(channels)]
        turns = [f"{one}_{other}_turn" for one, other in self._turns(channels)]
        return (*self._names_of_each(channels), *(turn + lag for turn in turns for lag in lags))

    def _names_of_each(self, channels: Sequence[str]) -> list[str]:
        each = [f"_{STATISTICS[place]}" for place in self.statistics]
        each += [f"_{name}" for name in self.tones]
        each += [f"_{low:g}-{high:g}Hz" for low, high in self.bands]
        each += map(self._called, range(len(self.chosen)))
        return [
            channel + ending
            for channel in channels
            for ending in ([""] if channel in self.plain or self.window == 1 else each)
        ]

    def _turns(self, channels: Sequence[str]) -> list[tuple[str, str]]:
        """Return the pairs of channels whose turns are features; with auto, a sensor's axes."""
        able = [name for name in channels if name not in self.plain]
        pairs = list(itertools.combinations(able, 2))
        if self.turns == NONE:
            return []
        if self.turns == ALL:
            return pairs
        if self.turns == AUTO:
            pairs = [pair for pair in pairs if are_axes(*pair)]
            return pairs if len(pairs) <= self._room_for_turns(channels) else []
        chosen = []
        for text in self.turns.split(","):
            one, _, other = text.partition(":")
            for name in (one, other):
                if name in self.plain:
                    raise UserError(f"--features turns: {name} is plain, so it has no window")
                self._place(name, channels, "turns")
            if one == other:
                raise UserError(f"--features turns={text}: name two values, such as ax:ay")
            chosen.append((one, other))
        return chosen

    def _lags(self, channels: Sequence[str]) -> list[int]:
        """Return the lags for the turns of each pair: as many as there is room for."""
        lags = turn_lags(self.window)
        room = self._room_for_turns(channels) // max(len(self._turns(channels)), 1)
        return lags[: max(room, 1)]

    def fewer_lags(self, channels: Sequence[str]) -> str:
        """Return a note if there is no room for turns at all lags, else ""."""
        lags, of = len(self._lags(channels)), len(turn_lags(self.window))
        if not self._turns(channels) or lags == of or len(self.names(channels)) > MAX_FEATURES:
            return ""
        return (
            f"{MAX_FEATURES} features have no room for all turns, so each pair of values has its "
            f"turn at {lags} of {of} lags. There is room with fewer pairs (turns=), statistics or "
            "bands."
        )

    def _room_for_turns(self, channels: Sequence[str]) -> int:
        return MAX_FEATURES - len(self._names_of_each(channels))

    def _called(self, number: int) -> str:
        """Return the name of an automatic band, in hertz if the rate is known."""
        if not self.rate:
            return f"_band{number + 1}"
        low, high = self.chosen[number]
        step = self.rate / self.window
        return f"_{low * step:.3g}-{min(high + 1, self.window / 2) * step:.3g}Hz"

    @property
    def chosen_words(self) -> list[str]:
        """The settings that may be left out one by one, as a user would type them."""
        bands = ["bands=auto"] if self.chosen else []
        return [f"window={self.window}", f"hop={self.hop}", *bands]

    def readings(self, samples: int) -> int:
        """Return the number of readings that make that many samples."""
        return self.window + (samples - 1) * self.hop if samples > 0 else samples

    def _zeros(self, channels: int, zero: Sequence[int]) -> list[int]:
        result = list(self.zero or zero)
        if len(result) == 1:
            result *= channels
        if len(result) != channels:
            raise UserError(
                f"--features zero has {len(result)} numbers, and a reading has {channels} values"
            )
        return result

    def _place(self, name: str, channels: Sequence[str], setting: str = "plain") -> int:
        if name not in channels:
            raise UserError(
                f"--features {setting}: a reading has no {name}. {did_you_mean(name, channels)}"
            )
        return list(channels).index(name)

    def _check_count(self, channels: Sequence[str]) -> None:
        count = len(self.names(channels))
        if not count:
            raise UserError("--features: without statistics and bands there is no feature")
        if count > MAX_FEATURES:
            turns, fewer = len(self._turns(channels)), "bands"
            values = (
                f"{len(channels)} values with {(count - turns) // len(channels)} features each"
            )
            if turns:
                values, fewer = f"{values} and {turns} turns", "turns or bands"
            raise UserError(
                f"--features: {values} make {count}, and {MAX_FEATURES} are possible. Ask for "
                f"fewer {fewer}."
            )


def are_axes(one: str, other: str) -> bool:
    """Return whether the names differ only in an x, y or z, as two axes of a sensor do."""
    differ = [{a, b} for a, b in zip(one.lower(), other.lower(), strict=False) if a != b]
    return len(one) == len(other) and len(differ) == 1 and differ[0] < {"x", "y", "z"}


def _turns_text(options: Mapping[str, Any], window: int) -> str:
    """Return the setting of turns; AUTO only applies together with automatic statistics."""
    wanted = str(options["turns"])
    if window == 1:
        if wanted not in (AUTO, NONE):
            raise UserError("--features turns need a window of more than one reading")
        return NONE
    return NONE if wanted == AUTO and options["statistics"] != AUTO else wanted


def _whole(name: str, value: Any) -> int:
    if type(value) is not int or not 1 <= value <= MOST_READINGS:
        raise UserError(
            f"--features {name} has to be a whole number of 1..{MOST_READINGS:,}, not {value!r}"
        )
    return value


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise UserError(f"--features {name} has to be a number above 0, not {value!r}")
    return number


def _statistics(value: Any, with_bands: bool) -> tuple[int, ...]:
    usual = _WITH_BANDS if with_bands else _ALONE
    several: dict[str, Sequence[str]] = {"all": STATISTICS, AUTO: usual, NONE: ()}
    names = several[value] if value in several else str(value).split(",")
    result = []
    for name in names:
        if name not in STATISTICS:
            raise UserError(
                f"--features statistics has no {name}. {did_you_mean(name, STATISTICS)}"
            )
        result.append(STATISTICS.index(name))
    return tuple(sorted(set(result)))


def _bands(value: Any, window: int) -> tuple[Band, ...]:
    if value == NONE:
        return ()
    if window not in WINDOWS:
        raise UserError(
            f"--features bands need a window of {', '.join(map(str, WINDOWS[:-1]))} or "
            f"{WINDOWS[-1]} readings, a power of two, not {window}"
        )
    return () if value == AUTO else tuple(_band("bands", text) for text in str(value).split(","))


def _band(name: str, text: Any) -> Band:
    match = _BAND.fullmatch(str(text))
    if not match:
        raise UserError(f"--features {name}: {text!r} is not a band in hertz, such as 0.5-3")
    low, high = float(match[1]), float(match[2])
    if low >= high:
        raise UserError(f"--features {name}: {text} Hz ends before it begins")
    return low, high


def _filters(options: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """Return the filters: first the high-pass, then the low-pass."""
    given = {form: options[f"{form}-pass"] for form in ("high", "low") if options[f"{form}-pass"]}
    if options["band-pass"]:
        if given:
            raise UserError(
                "--features band-pass is a high-pass and a low-pass: leave the others out"
            )
        given = dict(zip(("high", "low"), _band("band-pass", options["band-pass"]), strict=True))
    cut_offs = [(form, _number(f"{form}-pass", value)) for form, value in given.items()]
    if len(cut_offs) == 2 and cut_offs[0][1] >= cut_offs[1][1]:
        raise UserError("--features: the high-pass has to be below the low-pass")
    return tuple(cut_offs)


def _filter(form: str, cut_off: float, rate: float) -> list[Any]:
    least, most = feature_choice.LOWEST * rate, feature_choice.HIGHEST * rate
    if not least <= cut_off <= most:
        raise UserError(
            f"--features {form}-pass={cut_off:g}: with {rate:g} readings a second, a cut-off has "
            f"to be within {least:g}..{most:g} Hz"
        )
    return [form, feature_choice.design(cut_off, rate)]


def _factors(value: Any) -> tuple[float, ...]:
    if value == AUTO:
        return ()
    return tuple(_number("scale", text) for text in str(value).split(","))


def _zero(value: Any) -> tuple[int, ...]:
    if value is None:
        return ()
    try:
        return tuple(int(text) for text in str(value).split(","))
    except ValueError:
        raise UserError(f"--features zero has to be a whole number, not {value!r}") from None


def _bins(band: Band, window: int, rate: float) -> list[int]:
    """Return the first and the last frequency of the window within low <= f < high."""
    low, high = band
    if high > rate / 2:
        raise UserError(
            f"--features bands: {low:g}-{high:g} Hz is above half the rate. With {rate:g} "
            f"readings a second, a signal shows up to {rate / 2:g} Hz."
        )
    step = rate / window
    first = math.ceil(round(low / step, 6))
    last = window // 2 if high == rate / 2 else math.ceil(round(high / step, 6)) - 1
    if last < first:
        raise UserError(
            f"--features bands: a window of {window} readings at {rate:g} Hz has its frequencies "
            f"{step:g} Hz apart, and none is within {low:g}-{high:g} Hz. Take a wider band or a "
            "longer window."
        )
    return [first, last]
