"""`blender --command sylpheed …`: import, check and export without a window, so that a script can build a mod.

Exit status: 0 fine, 1 a check found an error, 2 unreadable input, a refused export or wrong usage.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout

import bpy

from ...core.disk import files, same_file
from ...core.editing import options as editing_options
from ...core.errors import FormatError, RefusedError, Severity, SylpheedError, naming
from ...core.formats import kinds
from ...core.game import loose_files, play_folder
from ...core.inspect import describe
from ...core.text import plural, printable
from ..checks import problems
from ..checks.results import summary
from ..scene import custom_properties, exporting, importing, mod_export, stage_import
from ..scene.roots import explain_none, find_all_roots, local_ones
from .command_registration import COMMAND
from .preferences import folders, play_folder_of

FINE, FAILED, UNREADABLE = 0, 1, 2


def run(arguments: Sequence[str]) -> int:
    """Runs one command: its exit status."""
    try:
        parser = _parser()
        options = parser.parse_args(list(arguments))
        if options.json and options.command != "check":
            parser.error(f"{options.command} has no JSON document to print")
        return int(options.run(options))
    except SystemExit as stop:  # of --help and wrong usage, after it was printed
        return int(stop.code or 0)
    except SylpheedError as error:
        _tell_error(error)
        return UNREADABLE
    finally:
        sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"blender --command {COMMAND}",
        description="Collision data of Project Sylpheed without a window.",
        epilog="Exit status: 0 fine, 1 a check found an error, 2 unreadable input, a refused export or wrong usage.",
    )
    parser.add_argument("--json", action="store_true", help="Print one JSON document; for check only")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, function: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=function, command=name)
        return command

    command = add("import", _import, "Import hulls (.col) and collision sets (.bin) into a .blend")
    command.add_argument("files", nargs="+", metavar="FILE")
    command.add_argument("-o", "--output", required=True, metavar="OUT.blend", help="The .blend to write")
    command.add_argument("--surfaces", choices=("SEPARATE", "JOINED"), default="SEPARATE", help="As in the dialog")
    command.add_argument("--cells", choices=("OBJECTS", "NONE"), default="NONE", help="As in the dialog")
    command.add_argument("--names", default="*", help="Which parts of a set: names with * and ?, separated by commas")

    command = add("stage", _stage, "Import a stage's phase from a game folder into a .blend, or list the stages")
    command.add_argument("game", metavar="GAMEDIR", help="The folder of the extracted disc, only ever read")
    command.add_argument(
        "-o", "--output", metavar="OUT.blend", help="The .blend to write; without one the stages are listed"
    )
    command.add_argument("--stage", default="S01", help="Which stage, such as S14, or the id of its table")
    command.add_argument("--phase", default="Phase_1", help="Which phase, such as Phase_1")
    command.add_argument("--parts", choices=("NONE", "STAGE", "ALL"), default="STAGE", help="As in the dialog")
    command.add_argument("--mod", default="", metavar="DIR", help="A mod folder, whose files come first")

    command = add("check", _check, "Check every hull and collision set in files, as the sidebar does")
    command.add_argument("files", nargs="+", metavar="FILE", help="A .blend, a hull (.col) or a collision set (.bin)")
    # without a default, so that a --json in front of the command counts too
    command.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="Print one JSON document")

    command = add("export", _export, "Export a hull (.col) or a collision set (.bin) from a .blend")
    command.add_argument("blend", metavar="IN.blend")
    command.add_argument("-o", "--output", required=True, metavar="OUT", help="The .col or .bin to write")
    command.add_argument("--root", default="", help="Name of the root object, if the .blend holds several")
    command.add_argument("--rebuild", choices=("CHANGED", "ALL"), default="CHANGED", help="As in the dialog")
    command.add_argument("--outside", choices=("ERROR", "GROW"), default="ERROR", help="As in the dialog")
    command.add_argument("--turn", action="store_true", help="Turn faces whose front doesn't face free space")

    command = add("mod", _mod, "Write every edited hull and set of a .blend into the archive of a mod folder")
    command.add_argument("blend", metavar="IN.blend")
    command.add_argument("-o", "--output", required=True, metavar="DIR", help="The mod folder")
    command.add_argument(
        "--overwrite",
        action="store_true",
        help="Replace what another session changed in the mod, where it is edited here",
    )
    command.add_argument("--game", default="", metavar="DIR", help="The game folder, else where the import came from")

    command = add("deploy", _deploy, "Copy a mod into the copy of the game that is run, keeping originals as .orig")
    _add_play(command)
    command.add_argument("--mod", default="", metavar="DIR", help="The mod folder, else that of the preferences")
    _add_play(add("restore", _restore, "Put the originals back into the copy of the game that is run"))
    return parser


def _add_play(command: argparse.ArgumentParser) -> None:
    command.add_argument("play", nargs="?", default="", metavar="DIR", help="The copy, else that of the preferences")


# --- commands -------------------------------------------------------------------------------------


def _import(options: argparse.Namespace) -> int:
    _refuse_output(options.output, ".blend", options.files)
    _open_nothing()
    for path in options.files:
        hull = importing.HullOptions(options.surfaces, options.cells, False, importing.View())
        _tell(_import_file(path, hull, importing.SetOptions(options.names, importing.View())))
    return _save(options.output)


def _stage(options: argparse.Namespace) -> int:
    if options.output is None:
        print("\n".join(describe.stage_lines(stage_import.list_stages(os.path.abspath(options.game)))))
        return FINE
    _refuse_output(options.output, ".blend")
    _open_nothing()
    mod = os.path.abspath(options.mod) if options.mod else ""
    hull = importing.HullOptions(cells="NONE")
    stage = stage_import.StageOptions(options.stage, options.phase, options.parts, hull)
    game = os.path.abspath(options.game)
    same_file.refuse_inside(options.output, game)
    for imported in stage_import.import_stage(bpy.context.scene, game, mod, stage, lambda part: None):
        _tell(imported)
    return _save(options.output)


def _save(path: str) -> int:
    output = os.path.abspath(path)
    if not os.path.isdir(os.path.dirname(output)):
        raise FormatError("there is no such folder", file=os.path.dirname(output), remedy="make it first")
    if os.path.isdir(output):  # Blender 4.2 removes an empty one
        raise FormatError("can't be written: a folder has this name", file=path, remedy="choose another name")
    paths = bpy.context.preferences.filepaths
    versions = paths.save_version
    try:
        paths.save_version = 0  # an OUT.blend1 beside it may be the user's
        with _blender_quiet():
            bpy.ops.wm.save_as_mainfile(filepath=output, check_existing=False, compress=True)
    except RuntimeError as error:
        raise FormatError(f"can't be written: {_last_line(error)}", file=path) from None
    finally:
        paths.save_version = versions
    _say(f"Wrote {path}")
    return FINE


def _check(options: argparse.Namespace) -> int:
    status = FINE
    rows: list[dict] = []
    for path in options.files:
        row: dict = {"file": path, "passed": False, "error": None, "roots": []}
        rows.append(row)
        try:
            with redirect_stdout(sys.stderr) if options.json else nullcontext():  # the document alone is printed
                row["roots"] = [_described(checked) for checked in _check_file(path, quiet=options.json)]
            row["passed"] = all(root["passed"] for root in row["roots"])
            status = max(status, FINE if row["passed"] else FAILED)
        except SylpheedError as error:
            row["error"] = str(error)
            _tell_error(error)
            status = UNREADABLE
    if options.json:
        print(json.dumps({"passed": all(row["passed"] for row in rows), "files": rows}, indent=1))
    return status


def _check_file(path: str, quiet: bool) -> Iterator[problems.Checked]:
    """Checks each hull and set in a file, and prints the result unless it is to be `quiet`."""
    if path.lower().endswith(".blend"):
        _open(path)
    else:
        _open_nothing()
        _import_file(path, importing.HullOptions(cells="NONE"), importing.SetOptions())
    for root in _roots(path):
        checked = problems.check_root(bpy.context, root)
        if not quiet:
            _say(f"{path}: {summary(checked)}")
            for problem in checked.problems:
                if problem.severity is not Severity.INFO:
                    _say(f"  {problem.severity.value}: {problem.check}: {problem.message}")
        yield checked


def _described(checked: problems.Checked) -> dict:
    """The result of a check, ready for JSON."""
    return {
        "root": checked.root,
        "passed": checked.sound,
        "summary": summary(checked),
        "problems": [
            {"severity": problem.severity.value, "check": problem.check, "message": problem.message}
            for problem in checked.problems
        ],
    }


def _export(options: argparse.Namespace) -> int:
    _open(options.blend)
    roots = [root for root in _roots(options.blend) if options.root in ("", root.name)]
    if options.root:
        roots = local_ones(roots)
    else:  # the output says which kind is meant
        roots = [root for root in roots if options.output.lower().endswith(_ending(root))] or roots
    if len(roots) != 1:
        names = ", ".join(root.name for root in _roots(options.blend))
        raise RefusedError("name one of its roots with --root", file=options.blend, found=names)
    _refuse_output(options.output, _ending(roots[0]), [options.blend])
    same_file.refuse_inside(options.output, custom_properties.origin(roots[0])[0])
    exported = _export_root(roots[0], options)
    files.write_file(options.output, exported.data)
    _warn(exported.warnings)
    _say(f"{exported.summary}. Wrote {len(exported.data):,} bytes to {options.output}")
    return FINE


def _mod(options: argparse.Namespace) -> int:
    _open(options.blend)
    chosen = mod_export.ModOptions(
        os.path.abspath(options.output),
        os.path.abspath(options.game) if options.game else "",
        folders(bpy.context)[0],
        overwrite=options.overwrite,
    )
    exported = mod_export.export_mod(bpy.context, chosen, lambda part: None)
    _warn(exported.warnings)
    for note in exported.notes:
        _say(note)
    if exported.written.replaced:
        _say(f"Wrote {exported.written.path}. Replaced {', '.join(exported.written.replaced)}")
    else:
        _say("Wrote nothing: the mod needs no other bytes than it holds")
    return FINE


def _deploy(options: argparse.Namespace) -> int:
    game, mod = folders(bpy.context)
    play = _play(options)
    done = play_folder.deploy(os.path.abspath(options.mod) if options.mod else mod, play, game)
    _say(f"deployed {plural(len(done.files), 'file')} to {play}, kept {plural(len(done.kept), 'original')}")
    if done.put_back:
        _say(f"restored {', '.join(path.name for path in done.put_back)}, which this mod doesn't change")
    return FINE


def _restore(options: argparse.Namespace) -> int:
    play = _play(options)
    done = play_folder.restore(play, folders(bpy.context)[0])
    _say(f"restored {plural(len(done), 'file')} in {play}")
    return FINE


def _play(options: argparse.Namespace) -> str:
    return os.path.abspath(options.play) if options.play else play_folder_of(bpy.context)


# --- what they share ------------------------------------------------------------------------------


def _refuse_output(output: str, ending: str, inputs: Sequence[str] = ()) -> None:
    """Raises `SylpheedError` if the output doesn't end as its kind of file does, is one of the inputs, or lies in the
    game folder of the preferences."""
    if not output.lower().endswith(ending):
        raise RefusedError(f"the output must be a {ending} file", file=output, remedy=f"choose a name with {ending}")
    same_file.refuse_inside(output, folders(bpy.context)[0])
    for path in inputs:
        if same_file.same_file(path, output):
            raise RefusedError("the output would replace the input", file=output, remedy="choose another name")


def _open_nothing() -> None:
    bpy.ops.wm.read_homefile(use_empty=True)


def _open(path: str) -> None:
    if not os.path.isfile(path):
        raise FormatError("there is no such file", file=path)
    try:  # a script inside the file is none of ours to run
        with _blender_quiet():
            bpy.ops.wm.open_mainfile(filepath=os.path.abspath(path), load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise FormatError(f"can't be opened: {_last_line(error)}", file=path) from None


def _import_file(path: str, hull: importing.HullOptions, parts: importing.SetOptions) -> importing.Imported:
    """Imports a hull or a set, whichever the file is by its content."""
    kind, data = loose_files.read_known(path)
    scene, name = bpy.context.scene, os.path.basename(path)
    with naming(path):
        if kind is kinds.Kind.HULL:
            return importing.make_hull(scene, name, data, hull)
        if kind is kinds.Kind.COLLISION_SET:
            return importing.make_set(scene, name, data, parts, lambda part: None)
        raise FormatError("this isn't a hull or collision set", found=kind.value if kind else "something else")


def _roots(path: str) -> list[bpy.types.Object]:
    scene = bpy.context.scene
    roots = find_all_roots(scene)
    if not roots:
        raise explain_none(scene, (custom_properties.HULL, custom_properties.SET), "", roots).within(path)
    return roots


def _ending(root: bpy.types.Object) -> str:
    """The ending of the files that a root's kind is exported to."""
    return custom_properties.ENDINGS[custom_properties.kind(root)]


def _export_root(root: bpy.types.Object, options: argparse.Namespace) -> exporting.Exported:
    if custom_properties.kind(root) == custom_properties.SET:
        return exporting.export_set(bpy.context, root, apply_modifiers=True)
    how = editing_options.Options(
        editing_options.Rebuild(options.rebuild), editing_options.Outside(options.outside), options.turn
    )
    return exporting.export_hull(bpy.context, root, how, apply_modifiers=True)


def _say(text: str) -> None:
    """One line on standard output, with what would break or hide it escaped."""
    print(printable(text))


def _tell(imported: importing.Imported) -> None:
    _say(imported.summary)
    _warn(imported.warnings)


def _warn(warnings: Sequence[str]) -> None:
    for warning in warnings:
        _say(f"warning: {warning}")


def _tell_error(error: SylpheedError) -> None:
    sys.stdout.flush()  # standard output so far comes first
    sys.stderr.write(f"error: {error}\n")


@contextmanager
def _blender_quiet() -> Iterator[None]:
    """Drops what Blender itself prints of a failure: its message is in the exception."""
    kept = io.StringIO()
    with redirect_stdout(kept):
        yield
    print(kept.getvalue(), end="")


def _last_line(error: RuntimeError) -> str:
    return str(error).strip().splitlines()[-1].removeprefix("Error: ")
