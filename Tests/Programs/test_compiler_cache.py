"""The cache of compiled modules (Scripts/lib/swiftc): two checkouts share only the modules that are equal in both."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "small",
    targets: [
        .target(name: "CNumber"), .target(name: "Number", dependencies: ["CNumber"]),
        .executableTarget(name: "say", dependencies: ["Number"]), .testTarget(name: "NumberTests", dependencies: ["Number"]),
    ])
"""
FILES = {
    "Package.swift": MANIFEST,
    "Sources/CNumber/include/number.h": "#define NUMBER 1\nextern const int embedded;\n",
    "Sources/CNumber/number.c": '#include "number.h"\n#include "own.h"\nconst int embedded = OWN +\n#embed "page/digit"\n;\n',
    "Sources/CNumber/own.h": "#define OWN 0\n",
    "Sources/CNumber/page/digit": "0",
    "Sources/Number/Number.swift": "import CNumber\n\npublic func number() -> Int { Int(NUMBER) + 40 + Int(embedded) - 48 }\n",
    "Sources/say/main.swift": "import Number\n\nprint(number())\n",
    "Tests/NumberTests/NumberTests.swift": "import Number\nimport Testing\n\n@Test func isFortyOne() { #expect(number() == 41) }\n",
    "Tests/XCTMain.swift": "import Testing\n\n@main struct RunTests {\n"
                           "    static func main() async { await Testing.__swiftPMEntryPoint() as Never }\n}\n",
}


class Checkout:
    """A small package that is built with the cache."""

    def __init__(self, folder, cache):
        self.folder, self._cache = folder, cache
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def build(self, *options, cache=None):
        """Builds the package; returns the program's output, and for each module whether it was compiled or cached."""
        toolchain = pathlib.Path(shutil.which("swift")).resolve().parent
        times = self.folder / "times"
        times.unlink(missing_ok=True)
        environment = os.environ | {
            "SMARTPLUG_ROOT": str(self.folder), "SMARTPLUG_CACHE": str(cache or self._cache), "SMARTPLUG_TIMES": str(times),
            "SMARTPLUG_SWIFTC": str(toolchain / "swiftc"), "SMARTPLUG_CLANG": str(toolchain / "clang"),
            "SWIFT_EXEC": str(ROOT / "Scripts/lib/swiftc"), "CC": str(ROOT / "Scripts/lib/clang"),
        }
        built = subprocess.run(
            ["swift", "build", "--scratch-path", ".build-tests", "-c", "release", "--disable-index-store", *options], cwd=self.folder,
            env=environment, capture_output=True, text=True, timeout=80)
        assert built.returncode == 0, built.stdout + built.stderr
        said = subprocess.run([self.folder / ".build-tests/release/say"], capture_output=True, text=True, timeout=10).stdout
        lines = map(json.loads, times.read_text().splitlines()) if times.exists() else ()
        return said.strip(), {line["name"]: line["kind"] for line in lines if line["kind"] != "linked"}


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def first(tmp_path, cache):
    """A checkout whose modules are in the cache."""
    checkout = Checkout(tmp_path / "first", cache)
    assert checkout.build() == ("41", {"Number": "compiled", "say": "compiled"})
    return checkout


@pytest.fixture
def second(tmp_path, cache, first):
    return Checkout(tmp_path / "elsewhere" / "second", cache)


def test_another_checkout_takes_all_modules(second):
    """A second checkout with the same sources uses all cached modules."""
    assert second.build() == ("41", {"Number": "cached", "say": "cached"})


def test_another_checkout_takes_the_tests(first, second):
    assert first.build("--build-tests")[1]["NumberTests"] == "compiled"
    assert second.build("--build-tests")[1]["NumberTests"] == "cached"
    second.write("Sources/Number/Number.swift", FILES["Sources/Number/Number.swift"] + "public func another() {}\n")
    assert second.build("--build-tests")[1]["NumberTests"] == "compiled"


def test_a_changed_source_is_compiled_and_so_is_what_imports_it(second):
    second.write("Sources/Number/Number.swift", FILES["Sources/Number/Number.swift"].replace("40", "50"))
    assert second.build() == ("51", {"Number": "compiled", "say": "compiled"})


def test_a_changed_program_takes_the_module_that_it_imports(second):
    """A changed program is compiled with the cached module that it imports."""
    second.write("Sources/say/main.swift", FILES["Sources/say/main.swift"] + "print(2)\n")
    assert second.build() == ("41\n2", {"Number": "cached", "say": "compiled"})


def test_a_changed_header_is_seen(second):
    """A changed C header recompiles the modules that depend on it."""
    second.write("Sources/CNumber/include/number.h", FILES["Sources/CNumber/include/number.h"].replace("1", "2"))
    assert second.build() == ("42", {"Number": "compiled", "say": "compiled"})


@pytest.mark.parametrize("name, text", [("own.h", "#define OWN 1\n"), ("page/digit", "1")], ids=["header", "embedded"])
def test_what_a_c_file_reads_is_compiled_anew_where_it_changes(second, name, text):
    """A change of a file that a C source includes or embeds recompiles the C source."""
    assert second.build()[0] == "41"
    second.write(f"Sources/CNumber/{name}", text)
    assert second.build()[0] == "42"
    second.write(f"Sources/CNumber/{name}", FILES[f"Sources/CNumber/{name}"])
    assert second.build()[0] == "41"


def test_a_change_and_its_way_back(first):
    """Reverting a change uses the cached modules again."""
    first.write("Sources/Number/Number.swift", FILES["Sources/Number/Number.swift"].replace("40", "60"))
    assert first.build()[0] == "61"
    first.write("Sources/Number/Number.swift", FILES["Sources/Number/Number.swift"])
    assert first.build() == ("41", {"Number": "cached", "say": "cached"})


def test_a_source_that_asks_for_its_path_is_compiled_where_it_is(second):
    """A source with #filePath is compiled in its own checkout, and its path is not stored in the cache."""
    second.write("Sources/say/main.swift", "import Number\n\nprint(#filePath)\n")
    assert second.build()[0] == str(second.folder / "Sources/say/main.swift")
    assert not any(
        str(second.folder).encode() in file.read_bytes() for file in (second.folder.parent.parent / "cache").rglob("*") if file.is_file())


@pytest.mark.parametrize("damage", [b"", b"garbage"], ids=["empty", "garbage"])
def test_a_damaged_entry_is_thrown_away(second, cache, damage):
    """A damaged cache entry is discarded, and the module is compiled."""
    for file in (cache / "modules").rglob("*"):
        if file.is_file() and file.name != "manifest.json":
            file.write_bytes(damage)
    assert second.build() == ("41", {"Number": "compiled", "say": "compiled"})


def test_an_entry_without_its_list_is_thrown_away(second, cache):
    """A cache entry with a damaged manifest is discarded, and the module is compiled."""
    for file in (cache / "modules").rglob("manifest.json"):
        file.write_text("{")
    assert second.build() == ("41", {"Number": "compiled", "say": "compiled"})


def test_without_a_cache_all_is_compiled(second, cache):
    before = sorted(cache.rglob("*"))
    assert second.build(cache="off") == ("41", {"Number": "compiled", "say": "compiled"})
    assert sorted(cache.rglob("*")) == before


def test_a_folder_that_cannot_be_written_keeps_nobody_from_building(second, tmp_path):
    """A cache directory that cannot be written does not prevent the build."""
    (tmp_path / "file").write_text("")
    assert second.build(cache=tmp_path / "file")[0] == "41"
