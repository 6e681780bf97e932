# SPDX-License-Identifier: BSD-3-Clause
"""Machine files: what messages and reductions cost, in TOML (docs/simulation.md)."""

import re
from pathlib import Path

from . import _core
from .algorithms import near
from .errors import Error
from .files import read_text
from .toml_file import TomlFile, number_of

FOLDER = Path(__file__).parent / "machines"
LINK_NUMBERS = ("alpha", "beta", "f_alpha", "f_beta", "send_overhead", "receive_overhead")
LINK_POINTS = ("message", "contention")
KEYS = {
    "machine": ("name", "fingerprint"),
    "node": LINK_NUMBERS + LINK_POINTS,
    "network": LINK_NUMBERS + LINK_POINTS,
    "processor": ("cores", "copy", "wait", "in_turn"),
}
MOST_CORES = 2**31 - 1
PAGE = "docs/simulation.md describes machine files"


def shipped_machines() -> list[str]:
    """Names that `machine_named` knows."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def _table(file: TomlFile, name: str) -> dict:
    return file.known(name, file.table(name), KEYS[name])


def _number(file: TomlFile, table: str, key: str, value: object) -> float:
    number = number_of(value)
    if number is None:
        raise file.error(table, key, f"'{key}' is no number", "times are in seconds: 2e-6")
    return number


def _points(file: TomlFile, table: str, key: str, value: object) -> list[tuple[float, float]]:
    points = []
    for point in value if isinstance(value, list) else []:
        numbers = list(map(number_of, point)) if isinstance(point, list) else []
        points.append(None if len(numbers) != 2 or None in numbers else tuple(numbers))
    if not points or None in points:
        raise file.error(
            table, key, f"'{key}' is no list of points", "write [[0, 2e-6], [65536, 9e-6]]"
        )
    return points


def _link(file: TomlFile, name: str) -> _core.Link:
    table = _table(file, name)
    if "message" in table and ("alpha" in table or "beta" in table):
        raise file.error(name, "message", "both 'message' and 'alpha' or 'beta'", "leave one out")
    words = {
        key: (_points if key in LINK_POINTS else _number)(file, name, key, value)
        for key, value in table.items()
    }
    link = _core.Link(**words)
    try:  # the core's own checks, with the line of the table or key that they name
        _core.Machine(**{name: link})
    except Error as error:
        message = str(error).removeprefix("machine: ")
        key = re.match(rf"{name}\.(\w+)", message)
        raise file.error(name, key[1] if key else "", message, error.hint) from None
    return link


def operation_named(words: str) -> _core.Operation:
    """ "sum.f64", or "sum" of any type; raises Error where MPI does not define it."""
    name, dot, kind = words.lower().partition(".")
    types: dict[str, list[str]] = {}
    for operator, one in _core.predefined_operations():
        types.setdefault(operator, []).append(one)
    if name not in types:
        raise Error(f"no operator of MPI is called '{name}'", near(name, list(types)))
    if dot and kind not in types[name]:
        raise Error(f"MPI does not define '{name}' on the type '{kind}'", near(kind, types[name]))
    return _core.Operation(name, kind)


def _speeds(file: TomlFile, table: dict) -> list[_core.Speed]:
    speeds = []
    for name, value in table.items():
        if name == "gamma":
            continue
        types = value if isinstance(value, dict) else {"": value}
        for kind, gamma in types.items():
            number = number_of(gamma)
            if number is None or number < 0:
                raise file.error(
                    "reduction", name, f"'{name}' is no time", "write sum.f64 = 1.5e-10, s per byte"
                )
            try:
                operation = operation_named(f"{name}.{kind}" if kind else name)
            except Error as error:
                raise file.error("reduction", name, str(error), error.hint) from None
            speeds.append(_core.Speed(operation, number))
    return speeds


def _processor(file: TomlFile) -> dict:
    table = _table(file, "processor")
    for key, wanted in (("cores", int), ("in_turn", bool)):
        if type(table.get(key, wanted())) is not wanted:  # true is no whole number
            words = "a whole number" if wanted is int else "true or false"
            raise file.error("processor", key, f"'{key}' is not {words}")
    for key in ("copy", "wait"):
        if key in table:
            _number(file, "processor", key, table[key])
    for key, value in table.items():
        if value < 0:
            raise file.error("processor", key, f"'{key}' is negative")
    if table.get("cores", 0) > MOST_CORES:
        raise file.error("processor", "cores", f"'cores' is more than {MOST_CORES}")
    return table


def parse_machine(text: str, name: str = "<text>") -> _core.Machine:
    """The machine that a file's text describes; raises Error that names `name` and the line."""
    file = TomlFile(text, name, PAGE, "machine", (*KEYS, "reduction"))
    words = _table(file, "machine")
    for key, value in words.items():
        if not isinstance(value, str):
            raise file.error("machine", key, f"'{key}' is no text", f'write {key} = "…"')
    reduction = file.table("reduction")
    gamma = _number(file, "reduction", "gamma", reduction.get("gamma", 0.0))
    if gamma < 0:
        raise file.error("reduction", "gamma", "'gamma' is negative")
    network = _link(file, "network")
    return _core.Machine(
        name=words.get("name", Path(name).stem),
        fingerprint=words.get("fingerprint", ""),
        # Of one level only: all messages take it.
        node=_link(file, "node") if "node" in file.data else network,
        network=network if "network" in file.data else _link(file, "node"),
        gamma=gamma,
        speeds=_speeds(file, reduction),
        **_processor(file),
    )


def tuned_here(ending: str, old: str) -> Path | None:
    """The latest file with this ending that was tuned on a machine like this, for any MPI; several
    machines may share a home. Else `old`, of versions that kept one for all MPIs."""
    folder, _ = _core.config_folders()
    if not folder:
        return None
    name = Path(_core.tuned_rules_path(folder, _core.this_machine(""))).stem.rstrip("-")
    found = list((Path(folder) / "tuned").glob(f"{name}-*{ending}"))
    kept = Path(folder) / old
    default = kept if kept.exists() else None
    return max(found, key=lambda file: file.stat().st_mtime, default=default)


def machine_here() -> str:
    """What `machine_named` takes for this machine: what was fitted here last, else "flat"."""
    return str(tuned_here(".toml", "machine.toml") or "flat")


def machine_named(wish: str) -> _core.Machine:
    """A shipped machine by its name, or one by the path of its file; raises Error."""
    path = Path(wish)
    if path.suffix != ".toml" and "/" not in wish:
        if wish not in shipped_machines():
            hint = near(wish, shipped_machines())
            raise Error(f"no machine is called '{wish}'", f"{hint}, or give a file: ./{wish}.toml")
        path = FOLDER / f"{wish}.toml"
    return parse_machine(read_text(path, PAGE), str(path))
