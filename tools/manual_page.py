"""The manual as a page that a browser shows: `python build.py manual` writes it, and the extension's zip holds it.

Right-click > Online Manual in Blender, and the sidebar, open it where the extension is installed.
"""

from __future__ import annotations

import re
from pathlib import Path

import markdown

ROOT = Path(__file__).resolve().parents[1]
SOURCE, PAGE = ROOT / "docs" / "MANUAL.md", ROOT / "docs" / "manual.html"

STYLE = """
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.55 system-ui, sans-serif; color: #1d1f23 }
img { max-width: 100% } code { background: #f0f1f3; padding: 0 .2em } pre code { background: none }
pre { background: #f0f1f3; padding: .8rem; overflow-x: auto } table { border-collapse: collapse }
td, th { border: 1px solid #ccced3; padding: .3rem .6rem; text-align: left; vertical-align: top }
@media (prefers-color-scheme: dark) {
  body { background: #1d1f23; color: #dcdee3 } a { color: #8ab4f8 } code, pre { background: #2a2d33 }
}
"""


def make_page(text: str) -> str:
    """The page of a manual in Markdown. Headings have the anchors that public hosts give them."""
    converter = markdown.Markdown(extensions=["tables", "fenced_code", "sane_lists", "toc"], tab_length=3)
    body = converter.convert(re.sub(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)[^)]*\)", r"\1", text))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n<title>Sylpheed Collision: Manual</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


if __name__ == "__main__":
    PAGE.write_text(make_page(SOURCE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
    print(f"wrote {PAGE.relative_to(ROOT)}")
