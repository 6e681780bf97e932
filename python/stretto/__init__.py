# SPDX-License-Identifier: BSD-3-Clause
"""Fast collective operations for any MPI program: the tools beside the library.

Names are imported when they are first used, and nothing else is here, so that Ctrl-C finds the
command ready for it.
"""

TYPE_CHECKING = False  # so type checkers want it where `typing` is not imported

if TYPE_CHECKING:
    from . import blocks
    from ._core import *
    from .algorithms import algorithm_named, function_named
    from .errors import Error
    from .machine import machine_named, parse_machine
    from .topology import parse_topology, read_topology
    from .user_algorithm import UserAlgorithm, algorithm

    __version__: str

__all__ = [
    "Action",
    "ActionKind",
    "Algorithm",
    "AlgorithmFile",
    "Bound",
    "Buffer",
    "Builder",
    "Call",
    "Checked",
    "Choice",
    "Collective",
    "Copy",
    "Error",
    "Function",
    "Link",
    "Load",
    "Machine",
    "Measured",
    "Messages",
    "Needs",
    "Operation",
    "Parameter",
    "Params",
    "Parts",
    "Placement",
    "Prediction",
    "Question",
    "Range",
    "RanksNeeded",
    "Refused",
    "Round",
    "Rules",
    "Schedule",
    "ScheduleFile",
    "Send",
    "Shape",
    "Side",
    "Simulator",
    "Speed",
    "StepTraffic",
    "Topology",
    "TraceEvent",
    "Traffic",
    "Transfer",
    "TreeTime",
    "UserAlgorithm",
    "Variant",
    "Vertex",
    "__version__",
    "algorithm",
    "algorithm_named",
    "all_algorithms",
    "all_collectives",
    "all_functions",
    "block_of",
    "blocks",
    "build_schedule",
    "check_against_record",
    "check_algorithm",
    "check_schedules",
    "choose",
    "chosen_alike",
    "collective_named",
    "config_folders",
    "facts",
    "formula",
    "formula_misses",
    "function_named",
    "learned_rules_path",
    "lower_bound",
    "machine_named",
    "parse_machine",
    "parse_rules",
    "parse_schedule_file",
    "parse_schedules",
    "parse_topology",
    "predict",
    "read_rules",
    "read_topology",
    "resolved",
    "schedules_to_text",
    "sharing",
    "shipped_rules",
    "shipped_word",
    "this_machine",
    "time_on_tree",
    "to_text",
    "traffic",
    "tuned_rules_path",
    "two_levels",
    "unsuitable",
    "variants",
    "written",
]

# Where names come from that are not the compiled core's.
_MODULES = {
    "Error": "errors",
    "UserAlgorithm": "user_algorithm",
    "algorithm": "user_algorithm",
    "algorithm_named": "algorithms",
    "function_named": "algorithms",
    "machine_named": "machine",
    "parse_machine": "machine",
    "parse_topology": "topology",
    "read_topology": "topology",
}


def __getattr__(name: str):
    import importlib

    if name in ("_core", "blocks"):
        return importlib.import_module(f".{name}", __name__)
    if name not in __all__ and name != "version":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    module = importlib.import_module(f".{_MODULES.get(name, '_core')}", __name__)
    value = module.version() if name == "__version__" else getattr(module, name)
    globals()[name] = value  # from now on found without asking
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
