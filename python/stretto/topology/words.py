# SPDX-License-Identifier: BSD-3-Clause
"""How files of several kinds write names, bandwidths and times."""

import itertools
import math
import re

from ..toml_file import number_of

MOST_NAMES = 1 << 16  # of one pattern

_SCALES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_IN_A_SECOND = {"": 1, "s": 1, "ms": 1e3, "us": 1e6, "µs": 1e6, "ns": 1e9, "ps": 1e12}
_NUMBER = r"(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)"


def bandwidth_of(text: object) -> float | None:
    """Bytes per second of 1.25e8, "1 Gbit/s", "125 MB/s", "1Gbps" or "125MBps"."""
    if not isinstance(text, str):
        number = number_of(text)
        return number if number is not None and number > 0 else None
    unit = r"(?:(Ki|Mi|Gi|Ti|[kMGT]?)(B|bit|b)(?:/s|ps))?"
    found = re.fullmatch(rf"\s*{_NUMBER}\s*{unit}\s*", text)
    if not found:
        return None
    scale = (_SCALES | _BINARY)[found[2] or ""]
    number = float(found[1]) * scale / (8 if found[3] in ("bit", "b") else 1)
    return number if 0 < number < math.inf else None


def seconds_of(text: object) -> float | None:
    """Of 2.5e-5, "25 us" or "25µs"."""
    if not isinstance(text, str):
        number = number_of(text)
        return number if number is not None and number >= 0 else None
    found = re.fullmatch(rf"\s*{_NUMBER}\s*([a-zµ]*)\s*", text)
    if not found or found[2] not in _IN_A_SECOND:
        return None
    number = float(found[1]) / _IN_A_SECOND[found[2]]
    return number if number < math.inf else None


def _numbers(text: str) -> list[str] | None:
    """Of "0-3,7" or "00-11": those that are as wide as the first of their range."""
    found = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9}))?\s*", part)
        if not match:
            return None
        low, high = int(match[1]), int(match[2] or match[1])
        if not low <= high < low + MOST_NAMES - len(found):
            return None
        found += [str(n).zfill(len(match[1])) for n in range(low, high + 1)]
    return found


def names_of(pattern: str) -> list[str] | None:
    """Of "n[0-3,7],head" the names, in this order; None if it is no such pattern."""
    names = []
    for part in re.split(r",(?![^\[]*\])", pattern):
        pieces = re.split(r"\[([^\]]*)\]", part.strip())
        if not any(pieces) or any(re.search(r"[\[\]\s]", piece) for piece in pieces[::2]):
            return None
        choices = [_numbers(p) if i % 2 else [p] for i, p in enumerate(pieces)]
        if None in choices or len(names) + math.prod(map(len, choices)) > MOST_NAMES:
            return None
        names += ["".join(words) for words in itertools.product(*choices)]
    return names


def bandwidth_in_words(bandwidth: float) -> str:
    """ "1 Gbit/s"."""
    bits = bandwidth * 8
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if bits >= scale:
            return f"{bits / scale:.4g} {letter}bit/s"
    return f"{bits:.4g} bit/s"
