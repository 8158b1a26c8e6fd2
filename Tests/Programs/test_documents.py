"""Generated documents are current, and their generators refuse incomplete sources."""

import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess
import sys

import pytest

PROJECT = pathlib.Path(__file__).parents[2]


def script(name):
    """Loads a program of Scripts as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(PROJECT / "Scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


MANIFEST = """
let shared: [Target] = [
    module("Sources/Clock", "CClock"),
]
"""
LAYOUT = """
        // Reads a clock
        // in C
        "Sources/Clock": .system,
        "Sources/CClock": .foreign,
"""


def test_the_reference_of_commands_equals_the_help_of_the_programs(programs):
    done = subprocess.run([PROJECT / "Scripts/lib/command_page", "--check", programs], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_an_option_of_five_commands_is_described_once():
    wait = {"kind": "option", "names": [{"kind": "long", "name": "wait"}], "valueName": "span", "abstract": "The time limit."}
    name = {"kind": "positional", "valueName": "name", "isRepeating": True, "abstract": "A plug | a name."}
    commands = [
        {"commandName": word, "shouldDisplay": True, "abstract": f"Does {word}.", "discussion": "Text.\n  plugctl x",
         "arguments": [wait, name]}
        for word in ("a", "b", "c", "d", "e")]
    root = {"command": {"commandName": "plugctl", "abstract": "Controls plugs.", "subcommands": commands}}
    page = "\n".join(script("lib/command_page").program("plugctl", json.dumps(root)))
    assert page.count("| `--wait` *span* | The time limit. |") == 1
    assert page.count("Common options: `--wait` *span*.") == 5
    assert "### plugctl a\n\n```text\nplugctl a [options] <name> ...\n```\n\nDoes a." in page
    assert "\nText.\n\n```text\nplugctl x\n```\n" in page
    assert page.count("| `name` | A plug \\| a name. |") == 5


def test_the_schema_of_the_records_equals_their_source():
    """The schema of the lines of `plugctl --json` is the output of record_schema.py."""
    told = subprocess.run([sys.executable, PROJECT / "Documentation" / "record_schema.py"], capture_output=True, text=True, check=True)
    stored = (PROJECT / "Documentation" / "reference" / "records.schema.json").read_text()
    assert stored == told.stdout, "python3 Documentation/record_schema.py >Documentation/reference/records.schema.json"


def test_the_table_of_modules_equals_the_manifest():
    done = subprocess.run([PROJECT / "Scripts/checks/modules", "--check"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_module_of_c_shares_the_row_of_its_user():
    """A C module is in the table row of the module that uses it."""
    assert list(script("checks/modules").rows(MANIFEST, LAYOUT)) == [
        "| `Sources/Clock`, `Sources/CClock` | Reads a clock in C | system, C |"]


@pytest.mark.parametrize("manifest, layout", [
    (MANIFEST, LAYOUT.replace("        // Reads a clock\n        // in C\n", "")), (MANIFEST.replace("CClock", "Other"), LAYOUT)])
def test_a_target_without_a_description_or_a_user_is_refused(manifest, layout):
    table = script("checks/modules")
    with pytest.raises(table.Mistake, match="no description of"):
        list(table.rows(manifest, layout))


@pytest.fixture
def limits(tmp_path):
    """Scripts/checks/limits as a module that reads two constants from a temporary file."""
    module = script("checks/limits")
    module.ROOT = tmp_path
    (tmp_path / "Sources").mkdir()
    (tmp_path / "Sources/A.swift").write_text("static let size = 64 << 10\nstatic let span = Duration.seconds(31 * 86_400)\n")
    return module


@pytest.mark.parametrize("text, expected", [
    ("up to 64 KiB<!-- A.swift:size -->", "64 KiB"), ("up to 1 KiB<!-- A.swift:size -->", "64 KiB"),
    ("for 366 days<!-- A.swift:span -->", "31 days"), ("up to 1<!-- A.swift:size --> bytes", "65,536")])
def test_a_limit_in_a_document_is_that_of_its_constant(limits, text, expected):
    """The number before a comment is replaced by the constant's value, in the unit of the text."""
    assert limits.written(limits.MARK.search(text), ["Sources/A.swift"]).partition("<")[0] == expected


@pytest.mark.parametrize("names, message", [
    ("B.swift:size", "0 files of the code are named B.swift"), ("A.swift:length", "Sources/A.swift has 0 values of length"),
    ("A.swift:size, A.swift:span", "these constants differ: A.swift:size = 65536, A.swift:span = 2678400")])
def test_a_limit_without_one_value_is_refused(limits, names, message):
    """The error names a missing constant, or two constants with different values."""
    with pytest.raises(limits.Mistake, match=re.escape(message)):
        limits.written(limits.MARK.search(f"5<!-- {names} -->"), ["Sources/A.swift"])


QUOTING = sorted([
    *PROJECT.glob("*/*/*.docc/*.md"), PROJECT / "Documentation/how-to/library.md", PROJECT / "README.md",
])


def passages(text):
    """Returns the passages of the Swift blocks of a page as lists of lines, without leading comments. Empty lines divide a
    block into passages."""
    found, lines, is_swift = [], [], False
    for line in [*text.splitlines(), ""]:
        if line.startswith("```") or is_swift and not line.strip():
            while lines and lines[0].startswith("//"):
                del lines[0]
            found += [lines] if lines else []
            lines = []
            is_swift = line == "```swift" if line.startswith("```") else is_swift
        elif is_swift:
            lines.append(line.rstrip())
    return found


def is_quoted(passage, code):
    """Returns True if the code contains the lines of the passage one after the other, all with the same additional
    indentation."""
    for start in range(len(code) - len(passage) + 1):
        indent = code[start][:len(code[start]) - len(code[start].lstrip())]
        if all(line == indent + wanted for line, wanted in zip(code[start:], passage)):
            return True
    return False


@pytest.mark.parametrize("page", QUOTING, ids=lambda page: page.stem)
def test_the_swift_code_of_a_page_is_quoted_from_a_compiled_example(page):
    examples = [file.read_text().splitlines() for file in (PROJECT / "Controller/Examples").rglob("*.swift")]
    unknown = ["\n".join(passage) for passage in passages(page.read_text()) if not any(is_quoted(passage, code) for code in examples)]
    assert not unknown, f"{page.name} has code that is in no file of Controller/Examples:\n" + "\n\n".join(unknown)


def test_a_passage_with_a_changed_word_is_not_a_quotation():
    code = ["func run() {", "    if a {", "        b()", "    }", "}"]
    assert is_quoted(["if a {", "    b()", "}"], code)
    assert not is_quoted(["if a {", "    c()", "}"], code)
    assert not is_quoted(["if a {", "b()", "}"], code)


def test_each_module_and_folder_in_the_glossary_exists():
    rows = re.findall(r"^\| .* \| .* \| (.*) \|$", (PROJECT / "Documentation/reference/glossary.md").read_text(), re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"`([\w/.]+)`", row) if not name.endswith("(4)")]
    missing = [name for name in names if not any((PROJECT / side / name).exists() for side in (".", "Sources", "Firmware", "Controller"))]
    assert len(names) > 80
    assert not missing
