"""The catalogue of German texts: complete, without unused entries, and with the places of the English texts. These tests need no browser."""

import html.parser
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "Controller/CDashboardPage/page"
SCRIPTS = {path.name: path.read_text() for path in sorted(PAGE.glob("*.js"))}
STRING = r'"(?:[^"\\]|\\.)*"'
CALL = re.compile(rf"\bphrase(?:Parts)?\((?:({STRING}))?")
PLACE = re.compile(r"\{(\w+)(:[^}]*)?\}")
# The elements of a document whose text is not translated.
VERBATIM = {"code", "script", "noscript", "data"}
VOID = {"meta", "link", "input"}


def catalogue(name="german"):
    """The entries of a list of german.js, which are lines of JSON."""
    body = re.sub(r"(?m)^\s*//.*$", "", SCRIPTS["german.js"].split(f"export const {name} = {{")[1].split("\n};")[0])
    pairs = json.loads(f"{{{body.strip().rstrip(',')}}}", object_pairs_hook=list)
    assert len(pairs) == len(dict(pairs)), "an entry occurs twice"
    return dict(pairs)


class Document(html.parser.HTMLParser):
    """Collects the texts of index.html as `translateDocument` in language.js reads them."""

    def __init__(self):
        super().__init__()
        self.texts, self._open = set(), []
        self.feed((PAGE / "index.html").read_text())

    def handle_starttag(self, tag, attributes):
        self.texts |= {value for key, value in attributes if key in ("aria-label", "placeholder")}
        for _, text in self._open[-1:]:
            text.append(f"{{{tag}}}")
        if tag not in VOID:
            self._open.append((tag, []))

    def handle_endtag(self, tag):
        tag, text = self._open.pop()
        whole = "".join(text).strip()
        if re.search(r"[A-Za-z]{2}", PLACE.sub("", whole)) and tag not in VERBATIM and not any(tag in VERBATIM for tag, _ in self._open):
            self.texts.add(whole)

    def handle_data(self, data):
        for _, text in self._open[-1:]:
            text.append(data)


def used():
    """All English texts of the page. The language button already has the name of its language."""
    texts = Document().texts - {"Deutsch"}
    for script in SCRIPTS.values():
        texts |= {json.loads(text) for text in CALL.findall(script) if text}
    return texts


def test_every_text_has_a_german_entry():
    assert not sorted(used() - set(catalogue()))


def test_no_entry_is_unused():
    assert not sorted(set(catalogue()) - used())


def test_every_message_is_one_of_the_programs():
    """The parts of each message are in the sources of the daemon or of the plug, with values at the places."""
    files = (file for folder in ("Sources", "Firmware", "Controller") for file in (ROOT / folder).rglob("*.swift"))
    joined = re.sub(r'"\s*\+\s*"|\\\n\s*', "", "\n".join(file.read_text() for file in files)).replace('\\"', '"')
    parts = {english: re.split(r"\{\w+\}", english) for english in catalogue("germanMessages")}
    assert not [english for english, texts in parts.items() for text in texts if text.strip("\"':;, ") not in joined]


def translated(line):
    """The German text of a line, or None, as `translatedLine` in language.js finds it."""
    for english in sorted(catalogue("germanMessages"), key=len, reverse=True):
        if re.fullmatch("(.+)".join(map(re.escape, re.split(r"\{\w+\}", english))), line):
            return catalogue("germanMessages")[english]
    return None


def test_mistakes_in_rule_files_have_german_texts():
    """The errors and hints that the tests of broken rule files expect are in the list."""
    lines = []
    for file in (ROOT / "Tests/RuleFilesTests").glob("Broken*.swift"):
        lines += re.findall(r"(?:\d: error|^ +hint): (.+?)(?:\"\"\")?$", file.read_text(), re.MULTILINE)
    assert len(lines) > 100
    assert not [line for line in lines if translated(line.replace("\\\\", "\\")) is None]


def test_places_agree():
    """A German text has the same places as the English text. A noun after a number has a singular and a plural."""
    for english, german in (catalogue() | catalogue("germanMessages")).items():
        places = [sorted({name for name, _ in PLACE.findall(text)}) for text in (english, german)]
        assert places[0] == places[1], english
        for text in (english, german):
            assert all(nouns == "" or nouns.count("|") == 1 for _, nouns in PLACE.findall(text)), text


def test_texts_of_calls_are_literals():
    """A text that is computed could not be found in the catalogue."""
    for name, script in SCRIPTS.items():
        calls = [line for line in script.splitlines() for text in CALL.findall(line) if text == "" and "export" not in line]
        assert name == "language.js" or not calls, (name, calls)


def test_no_text_is_outside_the_catalogue():
    """A literal with a word is not assigned to a text, a name or a hint of an element."""
    word = r"(?:[^`\"$\\]|\$\{[^}]*\})*[A-Za-z][a-z]{2}"
    places = re.compile(rf"(?:\b(?:text|title|placeholder)|\"aria-(?:label|valuetext)\"): [\"`](?={word})|setText\([^,]+, [\"`](?={word})|\btextContent = [\"`](?={word})")
    for name, script in SCRIPTS.items():
        found = [line.strip() for line in script.splitlines() if places.search(line) and not line.lstrip().startswith(("//", "*", "/*"))]
        known = [line for line in found if not re.search(r"make\(\"code\"|\bkWh\b", line)]
        assert not known, (name, known)
