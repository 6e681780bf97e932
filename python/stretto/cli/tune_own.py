# SPDX-License-Identifier: BSD-3-Clause
"""`stretto tune`: Stretto's own choice."""

from dataclasses import asdict, replace
from pathlib import Path

import click

from .. import config_folders, function_named, tuned_rules_path
from ..errors import Error, FailureError
from ..files import refuse_unwritable, write_text
from ..launch import choose_mpi
from ..machine import machine_named
from ..measure.driver import Ratios
from ..measure.points import modes_of, parse_sizes
from ..measure.session import Request
from ..tune.own import predicted
from ..tune.own.choice import Choice, choices, gain_in_words, times_of
from ..tune.own.extrapolation import Extrapolation
from ..tune.own.journal import Journal
from ..tune.own.learned import overruled, take_out
from ..tune.own.model import to_toml
from ..tune.own.paired_benchmark import measured_reductions, refuse_variables
from ..tune.own.points import ORDERED, Point, reduces
from ..tune.own.rules import to_text
from ..tune.own.session import OwnSession, probed
from ..tune.own.topology_aware import OnTopology, predicted_rules
from ..tune.own.trust import in_words, within_noise
from ..units import size_in_words, time_in_a_table
from .calls import topology_of
from .options import ranks_of, say_notes, tunable, write_json
from .terminal import progress, say, say_busy, stdout, table, tuning


def _output(wish: str | None, machine: str = "") -> Path:
    """Of rules for `machine`."""
    folder, _ = config_folders()
    path = wish or tuned_rules_path(folder, machine)
    if not wish and not folder:
        raise Error("neither HOME nor XDG_CONFIG_HOME is set", "name a file: --output tuned.rules")
    if Path(path).is_dir():
        raise Error(f"--output: {path} is a folder", "name a file in it: --output tuned.rules")
    if Path(path).suffix in (".toml", ".jsonl"):
        hint = "the machine and what was measured go beside it, into .toml and .jsonl"
        raise Error(f"--output: {path} is to hold rules: name it .rules", hint)
    return Path(path)


def _beside(rules: Path, ending: str) -> Path:
    return rules.with_name(rules.name.removesuffix(".rules") + ending)


def _refuse_to_overwrite(machine: Path) -> None:
    """What is no machine file may be the user's own, a topology say."""
    if machine.is_file() and "stretto-machine" not in machine.read_text(errors="replace"):
        raise Error(f"--output: {machine} is there, and is no machine file", "name other rules")


def _predict(
    machine: str,
    collectives: str | None,
    output: str | None,
    topology: str | None,
    hosts: str | None,
) -> None:
    """Rules by the model alone."""
    model, names = machine_named(machine), tunable(collectives)
    tree = topology_of(topology, hosts, None, model)
    if not output and not model.fingerprint:
        hint = "name a file, for STRETTO_RULES: --output my.rules"
        raise Error(
            f"--predict {machine}: programs find rules only of a machine that they are on", hint
        )
    path = _output(output, model.fingerprint)
    if not output:  # a folder that is named may be mistyped
        path.parent.mkdir(parents=True, exist_ok=True)
    refuse_unwritable(path)
    given = {"predict": machine, "topology": topology, "hosts": hosts}
    words = " ".join(f"--{name} {value}" for name, value in given.items() if value)
    head = f"# By `stretto tune {words}`: the fastest by the model."
    if model.fingerprint:
        head = f"machine {model.fingerprint}\n{head}"
    if tree:
        with progress("predicting on the topology", None) as advance:
            own = predicted_rules(OnTopology(model, tree), names, advance)
        head = "\n".join([head, "", f"# {tree.ranks} ranks as they are placed there.", *own])
    with progress("predicting", None) as advance:
        levels = predicted.levels_of(model, tree.ranks if tree else None)
        text = predicted.to_text(model, levels, names, head, advance)
    write_text(path, text)
    click.echo(f"wrote {path}")


def _names(collectives: str | None, operators: str | None) -> list[str]:
    if operators not in (None, "commutative", "all"):
        raise Error(f"--operators: '{operators}' is neither", "write commutative or all")
    names = tunable(collectives)
    if operators == "all":
        names += [name + ORDERED for name in names if reduces(function_named(name))]
    return names


def run(
    as_json: bool,
    *,
    launcher: tuple[str, ...],
    mpi: str | None,
    ranks: tuple[int, ...] | None,
    sizes: str,
    collectives: str | None,
    budget: float,
    mode: str | None,
    operators: str | None,
    up_to: int | None,
    predict: str | None,
    topology: str | None,
    hosts: str | None,
    output: str | None,
    fresh: bool,
) -> None:
    if predict:
        used = {"a launcher": launcher, "--ranks": ranks, "--mpi": mpi, "--fresh": fresh}
        used |= {"--up-to": up_to, "--mode": mode, "--operators": operators, "--json": as_json}
        if wrong := [name for name, value in used.items() if value]:
            hint = "nothing is measured: leave it out"
            raise Error(f"{wrong[0]} does not go with --predict", hint)
        _predict(predict, collectives, output, topology, hosts)
        return
    if topology or hosts:
        what = f"--{'topology' if topology else 'hosts'} goes with --predict only"
        raise Error(what, "name a machine, too: --predict cluster")
    names, numbers = _names(collectives, operators), parse_sizes(sizes)
    if output:  # before the work
        _refuse_to_overwrite(_beside(_output(output), ".toml"))
    if launcher and ranks:
        raise Error("--ranks does not go with a launcher", "the launcher says how many there are")
    refuse_variables()
    started_by = replace(choose_mpi(mpi or "auto"), launcher=launcher)
    say_notes(started_by)
    # The launcher alone knows how many ranks it starts: the driver tells.
    places = probed(started_by, ranks_of(ranks) if not launcher else [0])
    machine = next(iter(places.values())).title
    path = _output(output, machine)
    journal = Journal(_beside(path, ".jsonl"), machine, fresh)
    request = Request(sorted(places), names, numbers, budget)
    own_modes = modes_of(mode or "both")
    session = OwnSession(started_by, request, journal, places, own_modes, say)
    extrapolation = Extrapolation(session, up_to) if up_to is not None else None
    session.look(say_busy)
    reductions = measured_reductions(started_by)
    with tuning("tuning Stretto's choice", session, journal.path) as advance:
        (extrapolation or session).run(advance)
    _report(session, path, machine, reductions, extrapolation, as_json, output is None)
    if wrong := [f"{cell}, {words}: wrong result" for cell, words in sorted(session.wrong)]:
        hint = "`stretto bench --collectives` races the function alone"
        raise FailureError("\nerror: ".join(wrong), hint)


def _overrule(
    session: OwnSession, chosen: list[Choice], doubtful: set[Point], for_programs: bool
) -> dict[str, str]:
    """What was learned and measured otherwise: from now on the new rules decide there, if programs
    find them by themselves. The classes with their new choices."""
    learned, shipped = session.learned, session.shipped()
    times = times_of(session.journal, shipped, session.modes, confirmed=False)
    found = overruled(learned, chosen, times, doubtful)
    if for_programs:
        take_out(learned, found)
    return {conditions: one.words or shipped[one.point] for conditions, one in found.items()}


def _print_learned(session: OwnSession, found: dict[str, str], for_programs: bool) -> None:
    known = session.learned.classes
    if not known:
        return
    click.echo(f"{session.learned.path} knows {len(known)} of these points; tried first")
    for conditions, words in found.items():
        click.echo(f"measured otherwise: {conditions}: {words}")
    if found and not for_programs:
        hint = f"`stretto rules forget {session.learned.path}`"
        click.echo(f"there what was learned still decides: {hint}")


def _extrapolated(extrapolation: Extrapolation | None) -> list[str]:
    """Rules for more ranks than were measured."""
    if not extrapolation:
        return []
    with progress("predicting", None) as advance:
        lines = extrapolation.lines(advance)
    if not extrapolation.session.model:
        say("too little was measured to predict more ranks: run again")
    return lines


def _modes(session: OwnSession) -> str:
    words = " and ".join(mode.replace("-", " ") for mode in session.modes)
    return words + (": times are geometric means" if len(session.modes) > 1 else "")


def _report(
    session: OwnSession,
    path: Path,
    machine: str,
    reductions: Ratios,
    extrapolation: Extrapolation | None,
    as_json: bool,
    for_programs: bool,
) -> None:
    journal, shipped, model = session.journal, session.shipped(), session.model
    chosen = choices(times_of(journal, shipped, session.modes))
    doubtful = within_noise(journal, chosen, shipped, session.modes)
    distrust = in_words(chosen, doubtful, journal.load)
    every = [one for own in chosen.values() for one in own]
    missing = sum(len(session.points(n)) for n in session.request.ranks) - len(every)
    files: dict[Path, str] = {}
    if chosen:
        made = f"By `stretto tune`: {len(every)} cells were measured, {_modes(session)}."
        more = _extrapolated(extrapolation)
        notes = [made, *distrust]
        files[path] = to_text(chosen, machine, notes, more, session.cores, session.apart)
    if model:
        files[_beside(path, ".toml")] = to_toml(
            {network: one.parameters for network, one in session.models.items()},
            machine, model.cores, session.qualities, reductions,
        )  # fmt: skip
    for file, text in files.items():
        write_text(file, text)
    otherwise = _overrule(session, every, doubtful, for_programs)
    if as_json:
        _print_json(session, every, doubtful, list(files), missing, otherwise)
        return
    _print_table(every, doubtful)
    _print_summary(session, missing, distrust)
    _print_learned(session, otherwise, for_programs)
    if chosen:
        click.echo("wrote " + ", ".join(map(str, files)))
        click.echo(gain_in_words(every))
    else:
        click.echo("nothing was measured yet: give it a longer --budget; no rules were written")


def _print_table(chosen: list[Choice], doubtful: set[Point]) -> None:
    grid = table("function", ">ranks", ">size", ">native", ">shipped", ">tuned", "choice")
    for one in chosen:
        noise = " (within noise)" if one.point in doubtful else ""
        times = (one.native_us, one.shipped_us, one.us)
        grid.add_row(
            one.point.name, str(one.point.ranks), size_in_words(one.point.asked),
            *("-" if us is None else time_in_a_table(1e-6 * us) for us in times),
            (one.words or "as shipped") + noise,
        )  # fmt: skip
    stdout().print(grid)


def _print_summary(session: OwnSession, missing: int, distrust: list[str]) -> None:
    for ranks, one in session.qualities.items():
        click.echo(
            f"model, {ranks} ranks: of {one.calls} calls the predicted time is off by "
            f"{one.median:.2f}x in the median, {one.usual:.2f}x in nine of ten, {one.worst:.2f}x "
            "at worst"
        )
    for cell, words in sorted(session.journal.failed):
        say(f"given up: {cell}, {words}: it did not come to an end")
    for line in distrust:
        say(line)
    if distrust:
        say("on a machine without other work, --fresh measures it anew")
    if missing:
        say(f"{missing} cells are missing: run again to go on")


def _print_json(
    session: OwnSession, chosen: list[Choice], doubtful: set[Point], files: list[Path],
    missing: int, otherwise: dict[str, str],
) -> None:  # fmt: skip
    cells = []
    for one in chosen:
        row = asdict(one)
        cells.append({**row.pop("point"), **row, "within_noise": one.point in doubtful})
    portfolio, measured = session.candidates()
    write_json(
        {
            "cells": cells,
            "modes": list(session.modes),
            "missing": missing,
            "busy": asdict(session.journal.load) if session.journal.load else None,
            "model": {ranks: asdict(one) for ranks, one in session.qualities.items()},
            "portfolio": portfolio,
            "measured": measured,
            "learned": {
                "file": str(session.learned.path) if session.learned.path else None,
                "points": len(session.learned.classes),
                "measured_otherwise": otherwise,
            },
            "wrong": [{**asdict(cell), "words": words} for cell, words in sorted(session.wrong)],
            "files": list(map(str, files)),
        }
    )
