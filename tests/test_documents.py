"""The documents: every link leads somewhere, and what they say of the code is so."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from core.cli.main import main
from tests.support.game_folder import make_game
from tests.support.hulls import read
from tests.test_layering import ROOMS, ROOT
from tools.manual_page import PAGE, SOURCE, make_page

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / ".github").rglob("*.md")])
MANUAL = ROOT / "docs" / "MANUAL.md"
MAPS = [ROOT / "docs" / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]

LINK = re.compile(r"!?\[[^\]\n]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
PLACE = re.compile(r"`((?:core|blender_addon|tests|tools|docs)/[\w./]*|build\.py)`")


def name(path: Path) -> str:
    """The path from the repository's root, as the name of a test."""
    return path.relative_to(ROOT).as_posix()


def prose(path: Path) -> str:
    """A document without its blocks of code."""
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """What a link may say behind `#`: headings in lower case without punctuation, spaces as hyphens, and ids."""
    found: dict[str, int] = {}
    slugs = set(re.findall(r'<a id="([^"]+)"', prose(path)))
    for heading in re.findall(r"^#{1,6} +(.*)$", prose(path), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")
        seen = found.get(slug, 0)
        found[slug] = seen + 1
        slugs.add(f"{slug}-{seen}" if seen else slug)
    return slugs


def broken_links(path: Path) -> list[str]:
    """The relative links of a document that lead to no file, or to no heading of it."""
    broken = []
    for target in LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = unquote(target).partition("#")
        aim = (path.parent / file).resolve() if file else path
        if not aim.exists() or (anchor and anchor not in anchors(aim)):
            broken.append(target)
    return broken


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_every_link_leads_somewhere(path: Path) -> None:
    assert broken_links(path) == []


def test_a_broken_link_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One, two & `three`\n## Same\n## Same\n[a](#one-two--three) [b](#same-1) [c](gone.md) [d](#same-2)\n"
    )
    assert broken_links(page) == ["gone.md", "#same-2"]


def test_every_picture_is_shown_somewhere() -> None:
    shown = {(path.parent / target).resolve() for path in DOCUMENTS for target in LINK.findall(path.read_text("utf-8"))}
    assert [picture.name for picture in sorted((ROOT / "docs").rglob("*.png")) if picture not in shown] == []


def test_every_picture_can_be_taken_again() -> None:
    scenes = (ROOT / "tools" / "picture_scenes.py").read_text("utf-8")
    pictures = sorted(picture.stem for picture in (ROOT / "docs").rglob("*.png"))
    assert sorted(re.findall(r'^@picture\("([\w-]+)"\)$', scenes, re.MULTILINE)) == pictures


@pytest.mark.parametrize("path", MAPS, ids=name)
def test_every_place_in_the_code_exists(path: Path) -> None:
    assert [place for place in PLACE.findall(path.read_text("utf-8")) if not (ROOT / place).exists()] == []


def test_the_table_of_rooms_is_the_one_that_the_imports_are_held_to() -> None:
    """The document names the nearest rooms; whatever those may import, a room may import too."""
    text = MAPS[0].read_text("utf-8")
    rows = re.findall(r"^\| `([\w/.]+)` \|[^|]*\|([^|]*)\|$", text, re.MULTILINE)
    short = {"core/errors.py": "core", "blender_addon/__init__.py": "blender_addon"}
    nearest = {
        short.get(room, room): [short.get(other, other) for other in re.findall(r"`([\w/.]+)`", below)]
        for room, below in rows
    }

    def below(room: str) -> set[str]:
        return set(nearest[room]).union(*(below(other) for other in nearest[room]))

    assert {room: below(room) for room in nearest} == {room: set(others) for room, others in ROOMS.items()}


def rows(heading: str) -> dict[str, str]:
    """The table below a heading of the manual: the first words of each row, to the row."""
    text = MANUAL.read_text("utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return {row.strip("`| ").split("`")[0]: row for row in text.splitlines() if row.startswith("| `")}


def help_text(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints for `--help`."""
    with pytest.raises(SystemExit):
        main([*arguments, "--help"])
    return capsys.readouterr().out


def test_the_manual_names_every_command_with_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    documented = {usage.split()[0]: row for usage, row in rows("The command line").items()}
    commands = re.findall(r"^    (\w+)", help_text(capsys), re.MULTILINE)
    assert len(commands) > 10 and sorted(documented) == sorted(commands)
    missing = []
    for command in commands:
        options = set(re.findall(r"(?<![\w-])(--?[a-z][\w-]*)", help_text(capsys, command))) - {"-h", "--help", "-m"}
        named = re.findall(r"--?[a-z][\w-]*", documented[command])
        missing += [f"{command} {option}" for option in sorted(options) if option not in named]
    assert missing == []


def test_the_commands_of_the_manual_work_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line of a block of code that calls the command line, in the manual's order, with a small game folder."""
    monkeypatch.chdir(tmp_path)
    make_game(tmp_path / "GAME")
    for name in ("OLD.col", "NEW.col", "FILE.col"):
        (tmp_path / name).write_bytes(read("test.col"))
    assert main(["navigation", "OLD.col", "-o", "OLD.rgn"]) == 0
    lines = re.findall(r"^ {4,}python -m core (.*)$", MANUAL.read_text("utf-8"), re.MULTILINE)
    failed = []
    for line in lines:
        command = re.split(r"\s{2,}", line)[0]  # what follows is a comment
        words = command.replace("X,Y,Z --to X,Y,Z", "-41000,-32000,-33000 --to 39000,34000,35000").split()
        if main(words) != 0:
            failed.append(command)
    assert len(lines) > 5 and failed == []


def test_the_page_of_the_manual_is_that_of_the_manual() -> None:
    assert PAGE.read_text(encoding="utf-8") == make_page(SOURCE.read_text(encoding="utf-8")), (
        "run python build.py manual"
    )
