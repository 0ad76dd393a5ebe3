"""The command line: `python -m core COMMAND`. Parse, call, print; everything else lies in the modules below.

Exit status: 0 fine, 1 a check failed or a difference was found, 2 unreadable input or wrong usage.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from . import check, collision_set, diff, mcol, obj, report, sample
from .counted import Check, findings
from .detect import Kind, detect, detect_file
from .errors import Finding, FormatError, Severity
from .files import read_file, write_file
from .make import Outside, build_from_nothing, build_like, hull_meshes, part_meshes

FINE, FAILED, UNREADABLE = 0, 1, 2
INTERRUPTED, PIPE_CLOSED = 130, 141
"""What a shell says of any program that was stopped by Ctrl-C or by a reader that went away."""


@dataclasses.dataclass(frozen=True)
class Format:
    """What the commands can do with one kind of file; None where a command has no meaning for it."""

    decode: Callable[[bytes], Any]
    check: Callable[[Any], list[Check]] | None = None
    describe: Callable[[Any], dict] | None = None
    contents: Callable[[Any], list[dict]] | None = None
    meshes: Callable[[Any, str], list[obj.Mesh]] | None = None
    diff: Callable[[Any, Any], list[diff.Difference]] | None = None


FORMATS = {
    Kind.HULL: Format(mcol.decode, check.check_hull, report.describe_hull, None, hull_meshes, diff.diff_hulls),
    Kind.COLLISION_SET: Format(
        collision_set.decode, check.check_set, report.describe_set, report.list_set, part_meshes, diff.diff_sets
    ),
}


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
    except FormatError as error:
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
    print("error:", " ".join(message.split()), file=sys.stderr)
    return UNREADABLE


# --- commands -------------------------------------------------------------------------------------


def info(options: argparse.Namespace) -> int:
    kind, model, describe = _load(options.file, "describe")
    about = {"file": options.file, "kind": kind.value, "bytes": os.path.getsize(options.file)}
    about |= describe(model)
    _print_json(about) if options.json else _print_description(about)
    return FINE


def list_contents(options: argparse.Namespace) -> int:
    kind, model, contents = _load(options.file, "contents")
    rows = contents(model)
    _print_json({"file": options.file, "kind": kind.value, "contents": rows}) if options.json else _print_rows(rows)
    return FINE


def verify(options: argparse.Namespace) -> int:
    paths = [path for name in options.paths for path in _files_below(Path(name))]
    results: list[Verified] = []
    for result in _verify_files(paths):
        results.append(result)
        if not options.json:
            print(_verdict(result))
    if options.json:
        _print_json(_verify_document(results))
    else:
        _print_totals(results)
    unreadable = [result.error for result in results if result.error]
    if unreadable:
        more = f" (and {_amount(unreadable[1:], 'more file')} can't be read)" if len(unreadable) > 1 else ""
        return _refuse(unreadable[0] + more)
    return FINE if all(result.passed for result in results) else FAILED


def write_obj(options: argparse.Namespace) -> int:
    _keep_apart(options.output, options.file)
    _, model, as_meshes = _load(options.file, "meshes")
    meshes = as_meshes(model, Path(options.file).stem)
    if options.mesh is not None:
        wanted = options.mesh.lower()
        meshes = [mesh for mesh in meshes if wanted in (mesh.name.lower(), mesh.name.lower().rpartition(".")[2])]
        if not meshes:
            remedy = "`info` shows the surfaces of a hull, `list` the meshes of a set"
            raise FormatError(f"holds no mesh named {options.mesh}", file=options.file, remedy=remedy)
    write_file(options.output, obj.encode(meshes, f"{Path(options.file).name}, coordinates in game units"))
    print(f"{options.output}: {_amount(meshes, 'object')}, {sum(len(m.triangles) for m in meshes):,} triangles")
    return FINE


def build(options: argparse.Namespace) -> int:
    _keep_apart(options.output, options.file, options.like)
    with _within(options.file):
        meshes = obj.decode(read_file(options.file))
    told: tuple[Finding, ...] = ()
    if options.like:
        _, source, _ = _load(options.like, only=Kind.HULL)
        with _within(options.file):
            outside = Outside.GROW if options.grow else Outside.ERROR
            hull, told = build_like(meshes, source, outside, options.turn)
    else:
        with _within(options.file):
            hull = build_from_nothing(meshes, options.cell, options.outside_solid)
    write_file(options.output, mcol.encode(hull))
    for finding in told:
        print(f"{finding.severity.value}: {finding}")
    size = f"{len(hull.vertices):,} vertices, {len(hull.triangles):,} triangles"
    print(f"{options.output}: {size}, {len(hull.occupied):,} of {hull.grid.cell_count:,} cells with triangles")
    return FINE


def show_diff(options: argparse.Namespace) -> int:
    kind, before, compare = _load(options.a, "diff")
    _, after, _ = _load(options.b, only=kind)
    differences = compare(before, after)
    if options.json:
        rows = [dataclasses.asdict(difference) for difference in differences]
        _print_json({"a": options.a, "b": options.b, "kind": kind.value, "differences": rows})
    else:
        print("\n".join(map(str, differences)) if differences else "no difference, the same bytes")
    return FAILED if differences else FINE


def write_samples(options: argparse.Namespace) -> int:
    with _Progress("making") as progress:
        paths = sample.write_sample(options.folder, options.seed, progress)
    print(f"{options.folder}: {_amount(paths, 'stand-in file')}, made up from seed {options.seed}")
    return FINE


# --- reading --------------------------------------------------------------------------------------


@contextlib.contextmanager
def _within(file: str | os.PathLike[str]) -> Iterator[None]:
    """Names the file in every `FormatError` that doesn't name one."""
    try:
        yield
    except FormatError as error:
        if not error.file:
            error.within(str(file))
        raise


def _load(path: str, ability: str = "decode", only: Kind | None = None) -> tuple[Kind, Any, Any]:
    """The kind of a file, its model, and the function of its `Format` that the command needs.

    Raises `FormatError` that names the file if the command can't use it.
    """
    with _within(path):
        data = read_file(path)
        kind = detect(data)
        if only and kind is not only:
            raise FormatError(
                "another kind of file",
                expected=_article(only.value),
                found=_article(kind.value if kind else "unknown file"),
            )
        if kind is None:
            kinds = ", ".join(f"{kind.value}s" for kind in FORMATS)
            raise FormatError(
                "not a file of this game's collision data",
                offset=0,
                expected=f"one of: {kinds}",
                found=data[:4].hex(" ") or "an empty file",
                remedy="choose another file",
            )
        use = getattr(FORMATS.get(kind), ability, None)
        if use is None:
            raise FormatError(f"{_article(kind.value)}, which this command has no use for")
        return kind, FORMATS[kind].decode(data), use


def _files_below(path: Path) -> list[Path]:
    """The file itself, or every file in a folder that can be checked."""
    if not path.is_dir():
        return [path]
    found = [file for file in sorted(path.rglob("*")) if file.is_file()]
    found = [file for file in found if (kind := detect_file(file)) in FORMATS and FORMATS[kind].check]
    if not found:
        raise FormatError("no file in this folder that can be verified", file=str(path), remedy="choose another folder")
    return found


def _keep_apart(output: str, *sources: str | None) -> None:
    for source in sources:
        if source and Path(output).resolve() == Path(source).resolve():
            raise FormatError("is the source file itself", file=output, remedy="choose another name for the output")


# --- verify ---------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Verified:
    """A file, and its checks or why it can't be read."""

    path: Path
    kind: Kind | None = None
    checks: list[Check] = dataclasses.field(default_factory=list)
    error: str = ""

    @property
    def findings(self) -> list[Finding]:
        return findings(self.checks)

    @property
    def passed(self) -> bool:
        return not self.error and all(f.severity is not Severity.ERROR for f in self.findings)


def _verify_files(paths: list[Path]) -> Iterator[Verified]:
    with _Progress("verifying") as progress:
        for number, path in enumerate(paths):
            progress(number, len(paths), path.name)
            result = _verify_file(path)
            progress.clear()  # the caller prints on the same screen
            yield result


def _verify_file(path: Path) -> Verified:
    try:
        kind, model, run_checks = _load(str(path), "check")
        return Verified(path, kind, run_checks(model))
    except FormatError as error:
        return Verified(path, error=str(error))


def _verdict(result: Verified) -> str:
    """One line: OK or FAIL, the file, and what is wrong with it."""
    if result.error:
        return f"FAIL {result.error}"
    told = [f"{f.severity.value}: {f.message}" for f in result.findings if f.severity is not Severity.INFO]
    return (
        f"{'OK  ' if result.passed else 'FAIL'} {result.path}: {'; '.join(told) or (result.kind and result.kind.value)}"
    )


def _verify_document(results: list[Verified]) -> dict:
    return {
        "passed": all(result.passed for result in results),
        "files": [
            {
                "file": str(result.path),
                "kind": result.kind.value if result.kind else None,
                "passed": result.passed,
                "error": result.error or None,
                "checks": [
                    {"name": c.name, "good": c.good, "total": c.total, "severity": c.severity.value}
                    for c in result.checks
                ],
                "findings": [dataclasses.asdict(f) | {"severity": f.severity.value} for f in result.findings],
            }
            for result in results
        ],
        "totals": [
            {"kind": kind.value, **dataclasses.asdict(row), "missed": row.missed.value if row.missed else None}
            for kind, _, rows in _totals(results)
            for row in rows
        ],
    }


def _totals(results: list[Verified]) -> list[tuple[Kind, int, list[report.Total]]]:
    """For each kind how many files there are, and the checks added up."""
    by_kind: dict[Kind, list[list[Check]]] = {}
    for result in results:
        if result.kind:
            by_kind.setdefault(result.kind, []).append(result.checks)
    return [(kind, len(checks), report.totals(checks)) for kind, checks in by_kind.items()]


def _print_totals(results: list[Verified]) -> None:
    for kind, count, rows in _totals(results):
        print(f"\n{count:,} {kind.value}{'s' if count > 1 else ''}")
        width = max(len(row.name) for row in rows)
        for row in rows:
            mark = f"   {row.missed.value}" if row.missed else ""
            median = f"   median {row.unit} {row.median:.5f}" if row.median is not None else ""
            print(f"{row.name:{width}} {row.good:>11,} / {row.total:<9,} {_percent(row):>9}{median}{mark}")


def _percent(row: report.Total) -> str:
    if not row.total:
        return "-"
    # Never rounded up to a hundred: one hole in a million is a hole.
    return f"{int(10000 * row.good / row.total) / 100:.2f} %" if row.good < row.total else "100.00 %"


# --- printing -------------------------------------------------------------------------------------


def _print_json(document: dict) -> None:
    print(json.dumps(document, indent=1))


def _print_description(about: dict) -> None:
    for key, value in about.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            print(f"{_label(key)}: {len(value):,}")
            _print_rows(value, "  ")
        else:
            print(f"{_label(key)}: {_text(value)}")


def _print_rows(rows: list[dict], indent: str = "") -> None:
    """Rows of equal keys: the name, then the other values with their keys."""
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        values = ", ".join(
            f"{_text(value)} {_label(key)}"
            if isinstance(value, int) and not isinstance(value, bool)
            else f"{_label(key)} {_text(value)}"
            for key, value in row.items()
            if key != "name"
        )
        print(f"{indent}{row['name']:{width}}  {values}")


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


def _article(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _amount(things: list, word: str) -> str:
    return f"{len(things):,} {word}{'' if len(things) == 1 else 's'}"


class _Progress:
    """A line on standard error that shows how far a long job is, if a person is watching."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self.begun = time.monotonic()
        self.shown = False

    def __enter__(self) -> _Progress:
        return self

    def __call__(self, number: int, count: int, name: str) -> None:
        if sys.stderr and sys.stderr.isatty() and time.monotonic() - self.begun > 1:
            print(f"\r\x1b[K{self.doing} {number + 1:,} of {count:,}: {name}", end="", file=sys.stderr, flush=True)
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


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m core", description="Collision files of Project Sylpheed.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    def command(name: str, run: Callable, text: str, *, as_json: bool = False) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=text, description=text)
        one.set_defaults(run=run)
        if as_json:
            one.add_argument("--json", action="store_true", help="print one JSON document")
        return one

    one = command("info", info, "what a file is: counts, bounding box, grid, surfaces", as_json=True)
    one.add_argument("file", metavar="FILE")

    one = command("verify", verify, "every check of the format notes, a line a file and totals", as_json=True)
    one.add_argument("paths", metavar="PATH", nargs="+", help="a file, or a folder with all that is below it")

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
    one.add_argument("--grow", action="store_true", help="with --like: add cells for geometry outside the box")
    one.add_argument("--turn", action="store_true", help="with --like: turn triangles that face rock")

    one = command("list", list_contents, "the meshes of a collision set", as_json=True)
    one.add_argument("file", metavar="FILE")

    one = command("diff", show_diff, "what changed between two hulls or two sets", as_json=True)
    one.add_argument("a", metavar="A")
    one.add_argument("b", metavar="B")

    one = command("sample", write_samples, "stand-in game files to try things on")
    one.add_argument("folder", metavar="DIR")
    one.add_argument("--seed", type=_seed, default=1, metavar="N")
    return parser


def _size(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e30:
        raise ValueError
    return value


def _seed(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError
    return value


_size.__name__, _seed.__name__ = "positive number", "whole number"  # argparse says "invalid positive number value"

if __name__ == "__main__":
    sys.exit(main())
