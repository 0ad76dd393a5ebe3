"""What the command line prints: one line is one line, numbers read well, and JSON is JSON."""

import json

from core.cli.printing import print_description, print_json, print_rows, report_error, say


def test_a_name_cannot_break_a_line(capsys):
    say("a\nb\x1b[2K")
    print_rows([{"name": "c\rd", "size": 1}])
    assert report_error("e\nf") == 2
    out, error = capsys.readouterr()
    assert out.count("\n") == 2 and "\x1b" not in out and "\r" not in out
    assert error == "error: e\\nf\n"


def test_rows_stand_in_columns(capsys):
    print_rows([{"name": "wall", "triangles": 12_000, "closed": True}, {"name": None, "triangles": 1, "closed": False}])
    assert capsys.readouterr().out == "wall  12,000 triangles, closed yes\n?     1 triangles, closed no\n"


def test_a_description_indents_its_rows(capsys):
    print_description({"half_box": [1.5, -2.0], "parts": [{"name": "a", "bytes": 3}], "none": []})
    assert capsys.readouterr().out == "half box: (1.5, -2)\nparts: 1\n  a  3 bytes\nnone: ()\n"


def test_a_document_is_json_whatever_is_in_it(capsys):
    document = {"name": "\x7f\x1b\u2028é", "values": [1, None, True]}
    print_json(document)
    out = capsys.readouterr().out
    assert json.loads(out) == document and out.isascii() and "\x7f" not in out and "\x1b" not in out
