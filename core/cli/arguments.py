"""The arguments of each command."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..game.archive import LARGEST_IN_ALL
from . import commands
from .printing import report_error

Add = Callable[..., argparse.ArgumentParser]


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The options of a command, with `run` as the function that takes them. Raises `SystemExit` for `--help`, and for
    wrong usage after one line on standard error."""
    parser = _Parser(
        prog="python -m core",
        description="Collision files of Project Sylpheed",
        epilog="Exit status: 0 fine, 1 a check failed or a difference was found, 2 unreadable input or wrong usage.",
    )
    parser.add_argument("--json", action="store_true", help="Print one JSON document, where the command has one")
    group = parser.add_subparsers(title="Commands", required=True, metavar="COMMAND", parser_class=_Command)

    def add(name: str, run: Callable[[argparse.Namespace], int], text: str, *, as_json: bool = False) -> _Parser:
        command: _Parser = group.add_parser(name, help=text, description=text)
        command.set_defaults(run=run, command=command, as_json=as_json)
        if as_json:
            # Without a default, so that a --json in front of the command counts too.
            command.add_argument(
                "--json", action="store_true", default=argparse.SUPPRESS, help="Print one JSON document"
            )
        return command

    for add_some in (_add_reading, _add_game, _add_meshes, _add_archives, _add_navigation):
        add_some(add)
    options = parser.parse_args(arguments)
    if options.json and not options.as_json:
        options.command.error("this command has no JSON document to print")
    return options


def _add_reading(add: Add) -> None:
    one = add("info", commands.info, "Show what a file is: counts, bounding box, grid, surfaces, regions", as_json=True)
    one.add_argument("file", metavar="FILE", help="A file of any kind; its name doesn't matter")

    one = add("verify", commands.verify, "Check files: one line per file, then a table of totals", as_json=True)
    one.add_argument("paths", metavar="PATH", nargs="+", help="A file, an archive with its entries, or a whole folder")
    one.add_argument("--like", metavar="ORIG", help="What PATH was made from: a fault that ORIG has too is a warning")
    one.add_argument("--all", dest="everything", action="store_true", help="Every archive and entry of a game folder")

    text = "List the parts of a collision set, the entries of an archive, or the rows of a table"
    one = add("list", commands.list_contents, text, as_json=True)
    one.add_argument("file", metavar="FILE", help="A collision set, an archive or a table")

    text = "Show what changed between two hulls, navigation volumes, collision sets or archives"
    one = add("diff", commands.diff, text, as_json=True)
    one.add_argument("a", metavar="A", help="The file before")
    one.add_argument("b", metavar="B", help="The file after")


def _add_game(add: Add) -> None:
    text = "List stages, phases and the files that each names, and check that they fit"
    one = add("stages", commands.stages, text, as_json=True)
    one.add_argument("folder", metavar="GAMEDIR", help="The folder of the extracted disc, which never changes")

    one = add("survey", commands.survey, "Report what files say about each open question of the formats", as_json=True)
    one.add_argument("path", metavar="PATH", help="A game folder, an archive, a folder of loose files, or a file")
    one.add_argument("-o", dest="output", metavar="REPORT", help="Write the report to this file")
    one.add_argument("--all", action="store_true", help="Read the game's other archives and tables too")

    one = add("sample", commands.sample, "Write a stand-in game folder to try things on")
    one.add_argument("folder", metavar="DIR", help="An empty folder, or one with an older stand-in")
    one.add_argument("--seed", type=_seed, default=1, metavar="N", help="Each number gives other shapes; 1 by default")


def _add_meshes(add: Add) -> None:
    one = add("obj", commands.write_obj, "Write a Wavefront OBJ with one object per surface, region or part")
    one.add_argument("file", metavar="FILE", help="A hull or a collision set")
    one.add_argument("-o", dest="output", metavar="OUT.obj", required=True, help="The file to write")
    one.add_argument("--mesh", metavar="NAME", help="Only this surface or part")

    one = add("build", commands.build, "Build a hull from an OBJ")
    one.add_argument("file", metavar="IN.obj", help="The OBJ, in game units")
    one.add_argument("-o", dest="output", metavar="OUT.col", required=True, help="The file to write")
    way = one.add_mutually_exclusive_group(required=True)
    way.add_argument("--like", metavar="ORIG.col", help="The hull that was edited: what the edit doesn't reach stays")
    way.add_argument("--cell", metavar="SIZE", type=_size, help="A new hull, with cells of this size")
    one.add_argument(
        "--outside-solid",
        choices=("auto", "yes", "no"),
        default="auto",
        help="With --cell: whether everything outside the box is rock; auto: if the largest surface faces inward",
    )
    one.add_argument("--grow", action="store_true", help="With --like: add cells for geometry outside the box")
    one.add_argument("--turn", action="store_true", help="Flip triangles that face rock")


def _add_archives(add: Add) -> None:
    one = add("extract", commands.extract, "Unpack entries of an archive")
    one.add_argument("file", metavar="PAK", help="The archive's .pak file")
    one.add_argument("names", metavar="NAME", nargs="*", help="A name or hash that `list` shows; all if none is given")
    one.add_argument("-o", dest="folder", metavar="DIR", required=True, help="The folder to write to")
    one.add_argument("--force", action="store_true", help=f"Write more than {LARGEST_IN_ALL >> 30} GiB if needed")

    one = add("replace", commands.replace, "Write a modded archive to another folder")
    one.add_argument("file", metavar="PAK", help="The source, which never changes")
    one.add_argument(
        "replacements",
        metavar="NAME=FILE",
        nargs="+",
        type=_replacement,
        help="An entry's name, and the file that replaces it",
    )
    one.add_argument("-o", dest="folder", metavar="DIR", required=True, help="The folder to write to")
    one.add_argument("--force", action="store_true", help="Accept files in which `verify` finds errors")


def _add_navigation(add: Add) -> None:
    text = "Write a navigation volume for a hull: rebuilt, or patched after an edit"
    one = add("navigation", commands.navigation, text)
    one.add_argument("file", metavar="HULL.col", help="The hull as it is now")
    one.add_argument("-o", dest="output", metavar="OUT.rgn", required=True, help="The file to write")
    one.add_argument("--from", dest="old_navigation", metavar="OLD.rgn", help="The volume to patch")
    one.add_argument("--old", dest="old_hull", metavar="OLD.col", help="The hull that OLD.rgn was made for")

    one = add("route", commands.route, "Show the way that a computer-flown ship takes through a map", as_json=True)
    one._negative_number_matcher = re.compile(r"-[\d.]")  # so that -1,2,3 is no option
    one.add_argument("file", metavar="HULL.col", help="The hull of the map")
    one.add_argument("--from", dest="start", metavar="X,Y,Z", type=_point, required=True, help="Where the ship is")
    one.add_argument("--to", dest="goal", metavar="X,Y,Z", type=_point, required=True, help="Where it goes")
    one.add_argument("--radius", metavar="R", type=_size, default=1.0, help="Of the ship, in game units; 1 by default")
    one.add_argument("--navigation", metavar="F.rgn", help="The volume; the one beside the hull by default")


class _Parser(argparse.ArgumentParser):
    """Its texts are sentences, and wrong usage is one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, add_help=False)
        self._positionals.title, self._optionals.title = "Arguments", "Options"
        self.add_argument("-h", "--help", action="help", help="Show this help")

    def error(self, message: str) -> NoReturn:
        sys.exit(report_error(f"{message}; `{self.prog} --help` shows how"))


class _Command(_Parser):
    """Options may stand between the other arguments: `extract PAK -o DIR NAME`."""

    nested = False

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def,override]
        if self.nested:
            return super().parse_known_args(args, namespace)
        self.nested = True  # the intermixed way is made of two plain ones
        return self.parse_known_intermixed_args(args, namespace)


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


# argparse says "invalid positive number value"
_replacement.__name__, _point.__name__ = "NAME=FILE", "X,Y,Z"
_size.__name__, _seed.__name__ = "positive number", "whole number"
