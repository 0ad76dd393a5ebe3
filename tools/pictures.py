"""Takes every picture of the documents again, from the product as it is, in a windowed Blender.

    BLENDER=/path/to/blender python tools/pictures.py             all of them, into docs
    ... python tools/pictures.py stage-dialog check               these alone
    ... python tools/pictures.py --size 1920x1080 --language ja_JP --out DIR

BLENDER (or --blender) is Blender 4.2 or newer, or a program that starts one with the same arguments and environment on
a screen of its own. Where Blender's own screenshots stay black, as without a graphics card, GRAB is a program that
takes them: it gets the path of the file to write, such as `import -window root` of ImageMagick. The extension is built
and installed into a folder of its own, so nothing of the user's Blender changes. Each picture is a scene of
`tools/picture_scenes.py`, in a Blender of its own, with stand-in files.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.extension import build_zip  # noqa: E402
from tools.processes import Failure, say  # noqa: E402

SCENES = ROOT / "tools" / "picture_scenes.py"
STAGE = ROOT / "tools" / "picture_stage.py"
SECONDS = 300

START = """\
import pathlib, sys
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import picture_scenes
picture_scenes.run(*sys.argv[sys.argv.index("--") + 1 :])
"""


def main(arguments: list[str]) -> int:
    """Takes the pictures, returns the exit status."""
    known = re.findall(r'^@picture\("([\w-]+)"', SCENES.read_text(encoding="utf-8"), re.MULTILINE)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which pictures: {', '.join(known)}")
    parser.add_argument("--blender", default=os.environ.get("BLENDER", "blender"), help="the program, or a launcher")
    parser.add_argument("--size", default="1280x800", help="of the window, in pixels")
    parser.add_argument("--language", default="en_US", help="of the interface, such as ja_JP")
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="the folder for the pictures")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.names) - set(known)):
        parser.error(f"there is no picture {', '.join(unknown)}; there are {', '.join(known)}")
    archive = build_zip()
    failed = []
    for name in options.names or known:
        try:
            take(name, options, archive)
        except Failure as failure:
            say(f"{name}: {failure}")
            failed.append(name)
    return 1 if failed else 0


def take(name: str, options: argparse.Namespace, archive: Path) -> None:
    """Takes one picture. Raises `Failure` with the end of Blender's output if there is none afterwards."""
    width, height = options.size.split("x")
    with tempfile.TemporaryDirectory(prefix="sylpheed-pictures-", ignore_cleanup_errors=True) as folder:
        work = Path(folder)
        shutil.copy(archive, work / "extension.zip")
        for script in (SCENES, STAGE):
            shutil.copy(script, work)
        (work / "start.py").write_text(START, encoding="utf-8")
        command = [*shlex.split(options.blender), "--factory-startup", "--enable-event-simulate", "--window-geometry"]
        command += ["0", "0", width, height, "--python-exit-code", "1", "--python", str(work / "start.py")]
        command += ["--", name, options.language]
        environment = os.environ | {"BLENDER_USER_RESOURCES": str(work / "user")}
        try:
            done = subprocess.run(
                command, cwd=work, env=environment, timeout=SECONDS, capture_output=True, text=True, errors="replace"
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failure(str(error)) from error
        picture = work / f"{name}.png"
        if not picture.is_file():
            raise Failure("\n".join((done.stdout + done.stderr).splitlines()[-25:]))
        options.out.mkdir(parents=True, exist_ok=True)
        target = options.out / picture.name
        shutil.copy(picture, target)
        say(f"{target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
