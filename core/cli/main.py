"""The command line: `python -m core COMMAND`. Parse, call, print; everything else lies in the modules below.

Exit status: 0 fine, 1 a check failed or a difference was found, 2 unreadable input or wrong usage.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from ..disk.files import read_file, write_file
from ..disk.same_file import refuse_same
from ..editing.build import Outside, build_like, build_new
from ..errors import RefusedError, Severity, SylpheedError, naming
from ..formats import mcol, obj
from ..formats.collision_set import CollisionSet, unusable
from ..formats.kinds import Kind
from ..game import game_folder
from ..game.archive import LARGEST_IN_ALL, Archive
from ..game.archive_extract import extract
from ..inspect import describe
from ..inspect.check_archive import count_warning
from ..samples import files
from ..survey import runner
from ..text import printable
from . import navigation, verify
from .registry import load
from .replace import replace_entries
from .verify import Verified

FINE, FAILED, UNREADABLE = 0, 1, 2
INTERRUPTED, PIPE_CLOSED = 130, 141
"""What a shell says of any program that was stopped by Ctrl-C or by a reader that went away."""


def main(arguments: list[str] | None = None) -> int:
    """Runs one command: its exit status. Nothing but `SystemExit` of `--help` and wrong usage is raised."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):  # a console that can't show a letter shows a question mark
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    options = _parser().parse_args(arguments)
    try:
        status = options.run(options)
        if sys.stdout:
            sys.stdout.flush()
        return status
    except SylpheedError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        _give_up_output()
        return PIPE_CLOSED
    except OSError as error:
        _give_up_output()
        return _refuse(f"{error.filename or 'output'}: {error.strerror or error}")
    except KeyboardInterrupt:
        return INTERRUPTED


def _give_up_output() -> None:
    """Python would try to flush once more at exit, and complain."""
    if sys.stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(message: str) -> int:
    if sys.stdout:
        sys.stdout.flush()  # what was printed before stands before this
    print("error:", printable(message), file=sys.stderr)
    return UNREADABLE


# --- commands -------------------------------------------------------------------------------------


def info(options: argparse.Namespace) -> int:
    kind, model, describe = load(options.file, "describe")
    about = {"file": options.file, "kind": kind.value, "bytes": os.path.getsize(options.file)}
    about |= describe(model)
    _print_json(about) if options.json else _print_description(about)
    return FINE


def list_contents(options: argparse.Namespace) -> int:
    kind, model, contents = load(options.file, "contents")
    rows = contents(model)
    if options.json:
        warning = {"warning": count_warning(model.table) or None} if kind is Kind.ARCHIVE else {}
        _print_json({"file": options.file, "kind": kind.value, "contents": rows} | warning)
        return FINE
    _print_rows(rows)
    if kind is Kind.ARCHIVE:
        _warn_of_count(model)
    return FINE


def verify_all(options: argparse.Namespace) -> int:
    results: list[Verified] = []
    with _Progress("verifying") as progress:
        for result in verify.verify(options.paths, progress, verify.Options(options.everything, options.like)):
            results.append(result)
            if not options.json and _is_worth_a_line(result):
                progress.clear()  # it is on the same screen
                _say(_verdict(result))
    _print_json(verify.document(results)) if options.json else _print_totals(results)
    unreadable = [result.error for result in results if result.error]
    if unreadable:
        more = f" (and {_amount(unreadable[1:], 'more file')} can't be read)" if len(unreadable) > 1 else ""
        return _refuse(unreadable[0] + more)
    return FINE if all(result.passed for result in results) else FAILED


def write_obj(options: argparse.Namespace) -> int:
    refuse_same(options.output, options.file)
    _, model, as_meshes = load(options.file, "meshes")
    meshes = as_meshes(model, Path(options.file).stem)
    for part in model.parts if isinstance(model, CollisionSet) else ():
        if reason := unusable(part):
            _say(f"warning: {part.name} is left out: {reason}")
    if options.mesh is not None:
        wanted = options.mesh.lower()
        meshes = [mesh for mesh in meshes if wanted in (mesh.name.lower(), mesh.name.lower().rpartition(".")[2])]
        if not meshes:
            remedy = "`info` shows the surfaces of a hull, `list` the meshes of a set"
            raise RefusedError(f"holds no mesh named {options.mesh}", file=options.file, remedy=remedy)
    write_file(options.output, obj.encode(meshes, f"{Path(options.file).name}, coordinates in game units"))
    _say(f"{options.output}: {_amount(meshes, 'object')}, {sum(len(m.triangles) for m in meshes):,} triangles")
    return FINE


def build(options: argparse.Namespace) -> int:
    refuse_same(options.output, options.file, options.like)
    with naming(options.file):
        meshes, told = obj.read(read_file(options.file))
    outside = Outside.GROW if options.grow else Outside.ERROR
    source = load(options.like, only=Kind.HULL)[1] if options.like else None
    with naming(options.file):
        if source:
            hull, findings = build_like(meshes, source, outside, options.turn)
        else:
            hull, findings = build_new(meshes, options.cell, options.outside_solid, outside, options.turn)
    write_file(options.output, mcol.encode(hull))
    for finding in (*told, *findings):
        _say(f"{finding.severity.value}: {finding}")
    size = f"{len(hull.vertices):,} vertices, {len(hull.triangles):,} triangles"
    _say(f"{options.output}: {size}, {len(hull.occupied):,} of {hull.grid.cell_count:,} cells with triangles")
    return FINE


def show_diff(options: argparse.Namespace) -> int:
    kind, before, compare = load(options.a, "diff")
    _, after, _ = load(options.b, only=kind)
    with _Progress("comparing") as progress:
        differences = compare(before, after, progress.part) if kind is Kind.ARCHIVE else compare(before, after)
    if options.json:
        rows = [dataclasses.asdict(difference) for difference in differences]
        _print_json({"a": options.a, "b": options.b, "kind": kind.value, "differences": rows})
    elif differences:
        for difference in differences:
            _say(str(difference))
    else:
        _say(f"no difference, the same {'entries' if kind is Kind.ARCHIVE else 'bytes'}")
    return FAILED if differences else FINE


def extract_entries(options: argparse.Namespace) -> int:
    _, archive, _ = load(options.file, only=Kind.ARCHIVE)
    _warn_of_count(archive)
    with _Progress("extracting") as progress:
        results = extract(archive, options.folder, options.names or None, force=options.force, progress=progress.part)
    written = [result for result in results if result.path]
    for result in written:
        _say(str(result.path))
    _say(f"{options.folder}: {_amount(written, 'file')} from {len(archive.entries):,} entries")
    damaged = [result.error for result in results if result.error]
    if damaged:
        more = f" (and {_amount(damaged[1:], 'more entry', 'more entries')} can't be read)" if len(damaged) > 1 else ""
        return _refuse(f"{damaged[0]}{more}")
    return FINE


def replace_in_archive(options: argparse.Namespace) -> int:
    _, archive, _ = load(options.file, only=Kind.ARCHIVE)
    _warn_of_count(archive)
    with _Progress("writing") as progress:
        written, warnings = replace_entries(
            archive, options.replacements, options.folder, progress.part, force=options.force
        )
    for warning in warnings:
        _say(f"warning: {warning}")
    count = len(options.replacements)
    _say(f"{written.path}: {count:,} of {len(written.entries):,} entries replaced")
    return FINE


def show_stages(options: argparse.Namespace) -> int:
    game = game_folder.find_game(options.folder)
    found = game_folder.stages(game)
    told = game_folder.check(game)
    users = game_folder.hull_users(found)
    if options.json:
        _print_json(
            {
                "game": str(game.root),
                "stages": [dataclasses.asdict(one) for one in found],
                "hulls": [
                    {"name": name, "phases": [" ".join(phase) for phase in phases]} for name, phases in users.items()
                ],
                "findings": [dataclasses.asdict(f) | {"severity": f.severity.value} for f in told],
            }
        )
    else:
        for line in describe.stage_lines(found):
            _say(line)
        for finding in told:
            _say(f"{finding.severity.value}: {finding.message}")
    return FAILED if any(finding.severity is Severity.ERROR for finding in told) else FINE


def write_navigation(options: argparse.Namespace) -> int:
    sources = navigation.Sources(options.file, options.old_navigation, options.old_hull)
    with _Progress("dividing") as progress:
        lines = navigation.write_navigation(sources, options.output, lambda part: progress.part(round(100 * part), 100))
    for line in lines:
        _say(line)
    _say(f"wrote {options.output}")
    return FINE


def show_route(options: argparse.Namespace) -> int:
    route = navigation.route_between(options.file, options.navigation, options.start, options.goal, options.radius)
    if options.json:
        _print_json(navigation.describe_route(route))
    elif route.refused:
        _say(f"no way: {route.refused.reason}")
    else:
        _say(f"{'straight' if route.straight else 'through the volume'}, {route.length:,.0f} units")
        for point in route.points.tolist():
            _say("  " + ", ".join(f"{value:,.1f}" for value in point))
    return FINE if route.found else FAILED


def survey_files(options: argparse.Namespace) -> int:
    with _Progress("surveying") as progress:
        text = runner.write_report(options.path, options.output, options.all, options.json, progress)
    print(options.output if options.output else text)
    return FINE


def write_samples(options: argparse.Namespace) -> int:
    with _Progress("making") as progress:
        paths = files.write_sample(options.folder, options.seed, progress)
    _say(f"{options.folder}: {_amount(paths, 'stand-in file')}, made up from seed {options.seed}")
    return FINE


def _warn_of_count(archive: Archive) -> None:
    if warning := count_warning(archive.table):
        _say(f"warning: {archive.path}: {warning}")


# --- verify ---------------------------------------------------------------------------------------


def _is_worth_a_line(result: Verified) -> bool:
    """An archive may hold thousands of entries: those in which nothing was found are in the totals only."""
    return not result.entry or any(finding.severity is not Severity.INFO for finding in result.findings)


def _verdict(result: Verified) -> str:
    """One line: OK or FAIL, the file, and what is wrong with it."""
    if result.error:
        return f"FAIL {result.error}"
    told = [f"{f.severity.value}: {f.message}" for f in result.findings if f.severity is not Severity.INFO]
    note = f" ({result.note})" if result.note else ""
    return f"{'OK  ' if result.passed else 'FAIL'} {result.name}: {'; '.join(told) or result.kind}{note}"


def _print_totals(results: list[Verified]) -> None:
    for kind, count, rows in verify.totals(results):
        _say("")
        _say(f"{count:,} {kind}{'s' if count > 1 else ''}")
        width = max((len(row.name) for row in rows), default=0)  # none if no file of this kind could be read
        for row in rows:
            mark = f"   {row.missed.value}" if row.missed else ""
            median = f"   median {row.unit} {row.median:.5f}" if row.median is not None else ""
            _say(f"{row.name:{width}} {row.good:>11,} / {row.total:<9,} {_percent(row):>9}{median}{mark}")


def _percent(row: describe.Total) -> str:
    if not row.total:
        return "-"
    # Never rounded up to a hundred: one hole in a million is a hole.
    return f"{int(10000 * row.good / row.total) / 100:.2f} %" if row.good < row.total else "100.00 %"


# --- printing -------------------------------------------------------------------------------------


def _say(text: str) -> None:
    """One line on standard output; what would break or hide it is escaped. Everything but JSON is printed by this."""
    print(printable(text))


def _print_json(document: dict) -> None:
    for part in json.JSONEncoder(indent=1).iterencode(document):  # a long document isn't held as text
        sys.stdout.write(part.replace("\x7f", "\\u007f"))
    print()


def _print_description(about: dict) -> None:
    for key, value in about.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            _say(f"{_label(key)}: {len(value):,}")
            _print_rows(value, "  ")
        else:
            _say(f"{_label(key)}: {_text(value)}")


def _print_rows(rows: list[dict], indent: str = "") -> None:
    """Rows of equal keys: the name, or ? without one, then the other values with their keys."""
    names = [printable(row["name"] or "?") for row in rows]
    width = max(map(len, names), default=0)
    for name, row in zip(names, rows, strict=True):
        values = ", ".join(
            f"{_text(value)} {_label(key)}"
            if isinstance(value, int) and not isinstance(value, bool)
            else f"{_label(key)} {_text(value)}"
            for key, value in row.items()
            if key != "name"
        )
        _say(f"{indent}{name:{width}}  {values}")


def _label(key: str) -> str:
    return key.replace("_", " ")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.9g}"
    if isinstance(value, list):
        return f"({', '.join(f'{number:.9g}' for number in value)})"
    return str(value)


def _amount(things: list, word: str, several: str = "") -> str:
    return f"{len(things):,} {word if len(things) == 1 else several or word + 's'}"


class _Progress:
    """A line on standard error that shows how far a long job is, if a person is watching."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self.begun = time.monotonic()
        self.shown = False

    def __enter__(self) -> _Progress:
        return self

    def __call__(self, number: int, count: int, name: str) -> None:
        self._show(f"{number + 1:,} of {count:,}: {name}")

    def part(self, done: int, total: int) -> None:
        """So many bytes of so many."""
        self._show(f"{100 * done // max(total, 1)} %")

    def _show(self, text: str) -> None:
        if sys.stderr and sys.stderr.isatty() and time.monotonic() - self.begun > 1:
            print(f"\r\x1b[K{self.doing} {printable(text)}", end="", file=sys.stderr, flush=True)
            self.shown = True

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self.shown = False


# --- usage ----------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """Wrong usage is one line too."""

    def error(self, message: str) -> NoReturn:
        sys.exit(_refuse(f"{message}; `{self.prog} --help` shows how"))


class _Command(_Parser):
    """Options may stand between the other arguments: `extract PAK -o DIR NAME`."""

    nested = False

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def,override]
        if self.nested:
            return super().parse_known_args(args, namespace)
        self.nested = True  # the intermixed way is made of two plain ones
        return self.parse_known_intermixed_args(args, namespace)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m core", description="Collision files of Project Sylpheed.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Command)

    def command(name: str, run: Callable, text: str, *, as_json: bool = False) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=text, description=text)
        one.set_defaults(run=run)
        if as_json:
            one.add_argument("--json", action="store_true", help="print one JSON document")
        return one

    one = command("info", info, "what a file is: counts, bounding box, grid, surfaces", as_json=True)
    one.add_argument("file", metavar="FILE")

    one = command("verify", verify_all, "every check of the format notes, a line a file and totals", as_json=True)
    one.add_argument(
        "paths", metavar="PATH", nargs="+", help="a file, an archive with its entries, or a folder with all below it"
    )
    one.add_argument("--like", metavar="ORIG", help="what PATH was made from: a fault that ORIG has too is a warning")
    one.add_argument("--all", dest="everything", action="store_true", help="every archive and entry of a game folder")

    one = command("obj", write_obj, "Wavefront OBJ, one object a surface or mesh")
    one.add_argument("file", metavar="FILE")
    one.add_argument("-o", dest="output", metavar="OUT.obj", required=True)
    one.add_argument("--mesh", metavar="NAME", help="this surface or mesh alone")

    one = command("build", build, "a hull from an OBJ")
    one.add_argument("file", metavar="IN.obj")
    one.add_argument("-o", dest="output", metavar="OUT.col", required=True)
    way = one.add_mutually_exclusive_group(required=True)
    way.add_argument("--like", metavar="ORIG.col", help="the hull that was edited: what the edit doesn't reach stays")
    way.add_argument("--cell", metavar="SIZE", type=_size, help="a hull from nothing, with cells of this size")
    one.add_argument(
        "--outside-solid",
        choices=("auto", "yes", "no"),
        default="auto",
        help="with --cell: whether all outside the box is rock; auto: if the largest surface faces inward",
    )
    one.add_argument(
        "--grow", action="store_true", help="add cells for geometry outside the box (with --cell there is none)"
    )
    one.add_argument("--turn", action="store_true", help="turn triangles that face rock")

    one = command(
        "list",
        list_contents,
        "the meshes of a collision set, the entries of an archive, the rows of a table",
        as_json=True,
    )
    one.add_argument("file", metavar="FILE")

    one = command("extract", extract_entries, "unpack entries of an archive")
    one.add_argument("file", metavar="PAK")
    one.add_argument("names", metavar="NAME", nargs="*", help="a name or hash that `list` shows; all without any")
    one.add_argument("-o", dest="folder", metavar="DIR", required=True)
    one.add_argument("--force", action="store_true", help=f"write more than {LARGEST_IN_ALL >> 30} GiB if need be")

    one = command("replace", replace_in_archive, "a modded archive in another folder")
    one.add_argument("file", metavar="PAK", help="the source, which is never changed")
    one.add_argument("replacements", metavar="NAME=FILE", nargs="+", type=_replacement)
    one.add_argument("-o", dest="folder", metavar="DIR", required=True)
    one.add_argument("--force", action="store_true", help="take files that `verify` finds errors in")

    one = command("stages", show_stages, "stages, phases and the files each names, and whether they fit", as_json=True)
    one.add_argument("folder", metavar="GAMEDIR")

    one = command("diff", show_diff, "what changed between two hulls, sets or archives", as_json=True)
    one.add_argument("a", metavar="A")
    one.add_argument("b", metavar="B")

    one = command("navigation", write_navigation, "a navigation volume for a hull, rebuilt, or patched after an edit")
    one.add_argument("file", metavar="HULL.col")
    one.add_argument("-o", dest="output", metavar="OUT.rgn", required=True)
    one.add_argument("--from", dest="old_navigation", metavar="OLD.rgn", help="the volume to patch")
    one.add_argument("--old", dest="old_hull", metavar="OLD.col", help="the hull that OLD.rgn was made for")

    one = command("route", show_route, "the way that a computer-flown ship takes through a map", as_json=True)
    one._negative_number_matcher = re.compile(r"-[\d.]")  # so that -1,2,3 is no option
    one.add_argument("file", metavar="HULL.col")
    one.add_argument("--from", dest="start", metavar="X,Y,Z", type=_point, required=True)
    one.add_argument("--to", dest="goal", metavar="X,Y,Z", type=_point, required=True)
    one.add_argument("--radius", type=_size, default=1.0, help="of the ship, in game units; 1 in the game")
    one.add_argument("--navigation", metavar="F.rgn", help="the volume; the one beside the hull without this")

    one = command("survey", survey_files, "what the files say of every open question of the formats", as_json=True)
    one.add_argument("path", metavar="PATH", help="a game folder, an archive, a folder of loose files, or a file")
    one.add_argument("-o", dest="output", metavar="REPORT", help="write the report to this file")
    one.add_argument("--all", action="store_true", help="read the game's other archives and tables too")

    one = command(
        "sample", write_samples, "stand-in game files to try things on, in an empty folder or over older ones"
    )
    one.add_argument("folder", metavar="DIR")
    one.add_argument("--seed", type=_seed, default=1, metavar="N")
    return parser


def _size(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e30:
        raise ValueError
    return value


def _point(text: str) -> tuple[float, float, float]:
    x, y, z = (float(part) for part in text.split(","))
    if not all(abs(value) < 1e30 for value in (x, y, z)):
        raise ValueError
    return x, y, z


def _seed(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError
    return value


def _replacement(text: str) -> tuple[str, str]:
    name, equals, file = text.partition("=")
    if not (name and equals and file):
        raise ValueError
    return name, file


_replacement.__name__, _point.__name__ = "NAME=FILE", "X,Y,Z"
_size.__name__, _seed.__name__ = "positive number", "whole number"  # argparse says "invalid positive number value"
