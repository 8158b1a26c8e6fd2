"""A hook of mkdocs: checks and translates links between the documents and the rest of the repository.

The site has the pages of Documentation and, under repository/, the pages of PAGES. A link from a page to a file that is not on the
site becomes the file's path, or its address if mkdocs.yml names a `repo_url`. A link to a file that does not exist is a warning, which
`mkdocs build --strict` turns into a failure. The links of README.md, which is not on the site, are checked as well.
"""

import logging
import os
import pathlib
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENTS = "Documentation"
FOLDER = "repository"
PAGES = [
    "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Sources/PlugProtocol/Specification/Protocol.md",
    "Integrations/python-smartplug/README.md", "Integrations/home-assistant/README.md",
]
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
CODE = re.compile(r"(^ *```.*?^ *```|`[^`\n]*`)", re.DOTALL | re.MULTILINE)

log = logging.getLogger("mkdocs.plugins.repository_links")


def on_pre_build(config):
    translated((ROOT / "README.md").read_text(encoding="utf-8"), "README.md", "README.md", config)


def on_files(files, config):
    for path in PAGES:
        text = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, f"{FOLDER}/{path}", content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    source = page.file.src_uri
    original = source[len(FOLDER) + 1:] if source.startswith(f"{FOLDER}/") else f"{DOCUMENTS}/{source}"
    return translated(markdown, original, source, config)


def translated(markdown, original, source, config):
    """`original` is the page's path in the repository, `source` its path on the site."""
    def link(found):
        image, words, target = found.groups()
        path, mark, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return found[0]
        wanted = os.path.normpath(os.path.join(os.path.dirname(original), path))
        if wanted.startswith("..") or not (ROOT / wanted).exists():
            log.warning("%s links to %s, which does not exist", original, target)
            return found[0]
        if wanted.startswith(f"{DOCUMENTS}/"):
            on_site = wanted[len(DOCUMENTS) + 1:]
        elif wanted in PAGES:
            on_site = f"{FOLDER}/{wanted}"
        elif config.repo_url:
            return f"{image}[{words}]({config.repo_url.rstrip('/')}/blob/main/{wanted}{mark}{anchor})"
        else:
            return words if wanted in words else f"{words} (`{wanted}`)"
        return f"{image}[{words}]({os.path.relpath(on_site, os.path.dirname(source) or '.')}{mark}{anchor})"

    # The pieces with an odd index are code, in which links are not translated.
    pieces = CODE.split(markdown)
    return "".join(piece if index % 2 else LINK.sub(link, piece) for index, piece in enumerate(pieces))
