"""The commands: each reads files, calls what does the work, and prints what came of it. Each returns an exit status."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

from ..disk.files import read_file, write_file
from ..disk.same_file import refuse_same
from ..editing.build import Outside, build_like, build_new
from ..errors import Finding, RefusedError, Severity, naming
from ..formats import mcol, obj
from ..formats.collision_set import CollisionSet, unusable
from ..formats.kinds import Kind
from ..game import game_folder
from ..game.archive import Archive
from ..game.archive_extract import extract as extract_entries
from ..inspect import check_game, describe
from ..inspect.check_archive import count_warning
from ..samples.folder import write_sample
from ..survey.runner import write_report
from ..text import plural
from . import navigation as volumes
from . import verify as verifying
from .file_kinds import load
from .printing import FAILED, FINE, print_description, print_json, print_rows, report_error, say
from .progress import ProgressLine
from .replace import replace_entries
from .verify_report import document, is_worth_a_line, total_lines, verdict


def info(options: argparse.Namespace) -> int:
    kind, model, describe_model = load(options.file, "describe")
    about = {"file": options.file, "kind": kind.value, "bytes": os.path.getsize(options.file)}
    about |= describe_model(model)
    print_json(about) if options.json else print_description(about)
    return FINE


def list_contents(options: argparse.Namespace) -> int:
    kind, model, contents = load(options.file, "contents")
    rows = contents(model)
    if options.json:
        warning = {"warning": count_warning(model.table) or None} if kind is Kind.ARCHIVE else {}
        print_json({"file": options.file, "kind": kind.value, "contents": rows} | warning)
        return FINE
    print_rows(rows)
    if kind is Kind.ARCHIVE:
        _warn_of_count(model)
    return FINE


def verify(options: argparse.Namespace) -> int:
    results: list[verifying.Verified] = []
    with ProgressLine("verifying") as progress:
        chosen = verifying.Options(options.everything, options.like)
        for result in verifying.verify(options.paths, progress, chosen):
            results.append(result)
            if not options.json and is_worth_a_line(result):
                progress.clear()  # it is on the same screen
                say(verdict(result))
    if options.json:
        print_json(document(results))
    else:
        for line in total_lines(results):
            say(line)
    unreadable = [result.error for result in results if result.error]
    if unreadable:
        return report_error(_first_of(unreadable, "more file"))
    return FINE if all(result.passed for result in results) else FAILED


def diff(options: argparse.Namespace) -> int:
    kind, before, compare = load(options.a, "diff")
    _, after, _ = load(options.b, only=kind)
    with ProgressLine("comparing") as progress:
        differences = compare(before, after, progress.part) if kind is Kind.ARCHIVE else compare(before, after)
    if options.json:
        rows = [dataclasses.asdict(difference) for difference in differences]
        print_json({"a": options.a, "b": options.b, "kind": kind.value, "differences": rows})
    elif differences:
        for difference in differences:
            say(str(difference))
    else:
        say(f"no difference, the same {'entries' if kind is Kind.ARCHIVE else 'bytes'}")
    return FAILED if differences else FINE


def stages(options: argparse.Namespace) -> int:
    game = game_folder.find_game(options.folder)
    found = game_folder.stages(game)
    findings = check_game.check(game)
    if options.json:
        users = game_folder.hull_users(found)
        about = {
            "game": str(game.root),
            "stages": [dataclasses.asdict(stage) for stage in found],
            "hulls": [{"name": name, "phases": list(map(" ".join, phases))} for name, phases in users.items()],
            "findings": [finding.row() for finding in findings],
        }
        print_json(about)
    else:
        for line in describe.stage_lines(found):
            say(line)
        for finding in findings:
            say(f"{finding.severity.value}: {finding.message}")
    return FAILED if any(finding.severity is Severity.ERROR for finding in findings) else FINE


def survey(options: argparse.Namespace) -> int:
    with ProgressLine("surveying") as progress:
        text = write_report(options.path, options.output, options.all, options.json, progress)
    print(options.output if options.output else text)
    return FINE


def sample(options: argparse.Namespace) -> int:
    with ProgressLine("writing") as progress:
        paths = write_sample(options.folder, options.seed, progress)
    say(f"{options.folder}: {plural(len(paths), 'stand-in file')}, made up from seed {options.seed}")
    return FINE


def write_obj(options: argparse.Namespace) -> int:
    refuse_same(options.output, options.file)
    _, model, as_meshes = load(options.file, "meshes")
    with naming(options.file):
        meshes = as_meshes(model, Path(options.file).stem)
    for part in model.parts if isinstance(model, CollisionSet) else ():
        if reason := unusable(part):
            say(f"warning: {part.name} is left out: {reason}")
    if options.mesh is not None:
        wanted = options.mesh.lower()
        meshes = [mesh for mesh in meshes if wanted in (mesh.name.lower(), mesh.name.lower().rpartition(".")[2])]
        if not meshes:
            remedy = "`info` shows a hull's surfaces and a volume's regions, `list` a collision set's parts"
            raise RefusedError(f"holds nothing named {options.mesh}", file=options.file, remedy=remedy)
    write_file(options.output, obj.encode(meshes, f"{Path(options.file).name}, coordinates in game units"))
    triangles = sum(len(mesh.triangles) for mesh in meshes)
    say(f"{options.output}: {plural(len(meshes), 'object')}, {plural(triangles, 'triangle')}")
    return FINE


def build(options: argparse.Namespace) -> int:
    refuse_same(options.output, options.file, options.like)
    with naming(options.file):
        meshes, notes = obj.read(read_file(options.file))
    outside = Outside.GROW if options.grow else Outside.ERROR
    source = load(options.like, only=Kind.HULL)[1] if options.like else None
    findings: Sequence[Finding]
    with naming(options.file):
        if source:
            hull, findings = build_like(meshes, source, outside, options.turn)
        else:
            hull, findings = build_new(meshes, options.cell, options.outside_solid, outside, options.turn)
    write_file(options.output, mcol.encode(hull))
    for finding in (*notes, *findings):
        say(f"{finding.severity.value}: {finding}")
    size = f"{plural(len(hull.vertices), 'vertex')}, {plural(len(hull.triangles), 'triangle')}"
    say(f"{options.output}: {size}, {len(hull.occupied):,} of {hull.grid.cell_count:,} cells with triangles")
    return FINE


def extract(options: argparse.Namespace) -> int:
    _, archive, _ = load(options.file, only=Kind.ARCHIVE)
    _warn_of_count(archive)
    with ProgressLine("extracting") as progress:
        names = options.names or None
        results = extract_entries(archive, options.folder, names, force=options.force, progress=progress.part)
    written = [result for result in results if result.path]
    for result in written:
        say(str(result.path))
    say(f"{options.folder}: {plural(len(written), 'file')} from {plural(len(archive.entries), 'entry')}")
    damaged = [str(result.error) for result in results if result.error]
    return report_error(_first_of(damaged, "more entry")) if damaged else FINE


def replace(options: argparse.Namespace) -> int:
    _, archive, _ = load(options.file, only=Kind.ARCHIVE)
    _warn_of_count(archive)
    with ProgressLine("writing") as progress:
        written, warnings = replace_entries(
            archive, options.replacements, options.folder, progress.part, force=options.force
        )
    for warning in warnings:
        say(f"warning: {warning}")
    count = len(options.replacements)
    say(f"{written.path}: {count:,} of {plural(len(written.entries), 'entry')} replaced")
    return FINE


def navigation(options: argparse.Namespace) -> int:
    sources = volumes.Sources(options.file, options.old_navigation, options.old_hull)
    with ProgressLine("dividing") as progress:
        lines = volumes.write_navigation(sources, options.output, lambda part: progress.part(round(100 * part), 100))
    for line in lines:
        say(line)
    say(f"wrote {options.output}")
    return FINE


def route(options: argparse.Namespace) -> int:
    way = volumes.route_between(options.file, options.navigation, options.start, options.goal, options.radius)
    if options.json:
        print_json(volumes.describe_route(way))
    elif way.refused:
        say(f"no way: {way.refused.reason}")
    else:
        say(f"{'straight' if way.straight else 'through the volume'}, {way.length:,.0f} units")
        for point in way.points.tolist():
            say("  " + ", ".join(f"{value:,.1f}" for value in point))
    return FINE if way.found else FAILED


def _first_of(errors: Sequence[str], word: str) -> str:
    """The first error, and how many files or entries have another."""
    more = f" (and {plural(len(errors) - 1, word)} can't be read)" if len(errors) > 1 else ""
    return errors[0] + more


def _warn_of_count(archive: Archive) -> None:
    if warning := count_warning(archive.table):
        say(f"warning: {archive.path}: {warning}")
