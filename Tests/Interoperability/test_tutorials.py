"""Runs the blocks of the tutorials with the programs. Tests/Interoperability/run_tutorial describes the form of a page."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess

import pytest

from deadlines import patient

PROJECT = pathlib.Path(__file__).parents[2]
RUNNER = PROJECT / "Tests/Interoperability/run_tutorial"
PAGES = PROJECT / "Documentation/tutorials"

_loader = importlib.machinery.SourceFileLoader("run_tutorial", str(RUNNER))
run_tutorial = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tutorial", _loader))
_loader.exec_module(run_tutorial)


def run(page, programs):
    return subprocess.run([RUNNER, page, programs], capture_output=True, text=True, timeout=patient(170))


@pytest.mark.time_limit(180)
@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_each_block_of_a_tutorial_runs_and_prints_what_the_page_shows(page, programs):
    done = run(page, programs)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("content, message", [
    ("Text.\n\n```console\n$ echo one\none\n$ echo two\nthree\n```\n", "page.md:7: block 1, echo two: expected: three\n  printed:  two"),
    ("```console\n$ false\n```\n", "page.md:2: block 1, false: ended with status 1"),
    ("```console\n$ echo more\n```\n", "page.md:2: block 1, echo more: printed more than the page shows: more"),
    ("```console\n$ echo one\none\ntwo\n```\n", "page.md:4: block 1, echo one: the command ended with status 0 and did not print: two"),
    ("```console\n$ sleep 60\n...\n$ echo\n```\n", "page.md:4: block 1, echo: the previous program of this terminal is still running"),
    ("```\n$ true\n```\n", "page.md:1: a block needs a language"),
])
def test_a_difference_is_reported_with_its_line_and_block(programs, tmp_path, content, message):
    page = tmp_path / "page.md"
    page.write_text(content)
    done = run(page, programs)
    assert done.returncode == 1
    assert message in done.stderr


def test_terminals_are_separate_and_a_running_program_prints_later(programs, tmp_path):
    """Each terminal of a page has its own working directory, and a running program may print in a later block of its terminal."""
    page = tmp_path / "page.md"
    page.write_text("""
```console title="Terminal 1"
$ cd ~ && echo started && tail -F --retry events 2>&1
started
...
```

```console title="Terminal 2"
$ echo "press $PWD" | sed 's,/.*,...,' >~/events
```

```console title="Terminal 1"
...
press ...
^C
```

```sh title="greet.sh"
echo hello
```

```console
$ cat ~/events && cd - >/dev/null && sh greet.sh
press ...
hello
```
""")
    done = run(page, programs)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("expected, printed", [
    ("at 2026-11-21T09:52:40.713Z", "at 2027-01-02T03:04:05Z"), ("key 4b3f0d3c9c7f8f4e", "key 0000000000000001"),
    ("LQYU-CWWN-PWHM-B5GV", "AAAA-BBBB-CCCC-DDDD"), ("62.1 W", "7 W"), ("3.7 ms", "-1.3 ms"), ("http://127.0.0.1:7580/", "http://127.0.0.1:40000/"),
    ("found Lamp (0 ms after)", "found Lamp (12 ms after)"), ("a  b", "a b"), ('{"a":1,...}', '{"a":1,"b":2}'),
])
def test_times_ids_and_measured_numbers_match_any_others(expected, printed):
    """Times, ids, codes, ports and measured numbers on a page match any value of the same form."""
    assert run_tutorial.pattern(expected).fullmatch(printed)


@pytest.mark.parametrize("expected, printed", [("event 4", "event 5"), ("Lamp: on", "Lamp: off"), ("at 30 %", "at 40 %")])
def test_other_text_matches_only_itself(expected, printed):
    assert not run_tutorial.pattern(expected).fullmatch(printed)
