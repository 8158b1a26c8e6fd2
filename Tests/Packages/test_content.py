"""The content of the packages."""

import filecmp
import gzip
import json
import os
import pathlib
import shutil
import subprocess

import pytest

PROJECT = pathlib.Path(__file__).parents[2]
LARGEST_FIRMWARE = 12_000_000
PAGES = [("smartplug-firmware", "man8/plugd.8"), ("smartplug-firmware", "man5/plugd.toml.5"),
         ("smartplug-controller", "man1/plugctl.1")]
COMPLETIONS = [("bash", "bash-completion/completions/{}"), ("zsh", "zsh/vendor-completions/_{}"),
               ("fish", "fish/vendor_completions.d/{}.fish")]
PROGRAMS = [("smartplug-firmware", "plugd"), ("smartplug-controller", "plugctl")]


def test_the_firmware_fits_on_a_small_board(packages):
    size = packages["smartplug-firmware"].stat().st_size
    print(f"smartplug-firmware: {size / 1e6:.2f} MB (at most {LARGEST_FIRMWARE / 1e6:.0f})")
    assert size <= LARGEST_FIRMWARE


def test_the_same_commit_and_programs_make_the_same_bytes(tmp_path):
    """Two builds of the same commit and programs produce identical packages."""
    made = []
    for folder in ("one", "two"):
        programs = os.environ["SMARTPLUG_PROGRAMS"]
        arguments = ["firmware", "--quick", "--programs", programs, "--output", tmp_path / folder]
        subprocess.run([PROJECT / "Scripts/package", *arguments], check=True, capture_output=True)
        made += (tmp_path / folder).glob("*.deb")
    assert len(made) == 2
    assert filecmp.cmp(*made, shallow=False)


@pytest.mark.parametrize("package, page", PAGES)
def test_its_manual_page_is_drawn_without_a_warning(content, package, page, tmp_path):
    """groff formats the manual page without a warning."""
    source = tmp_path / "page"
    source.write_bytes(gzip.decompress((content[package] / f"usr/share/man/{page}.gz").read_bytes()))
    drawn = subprocess.run(["groff", "-man", "-ww", "-k", "-Tutf8", "-rLL=100n", source],
                           capture_output=True, text=True, check=True)
    assert drawn.stderr == ""
    assert len(drawn.stdout.splitlines()) > 100


def test_every_key_of_the_configuration_has_its_place_in_the_manual(content):
    """Every key of plugd.toml is in its manual page."""
    package = content["smartplug-firmware"]
    page = gzip.decompress((package / "usr/share/man/man5/plugd.toml.5.gz").read_bytes()).decode().replace("\\-", "-")
    for line in (package / "etc/smartplug/plugd.toml").read_text().splitlines():
        if " = " in line and not line.startswith(("# ", "## ")):
            assert f"\\fB{line.lstrip('#')}\\fR" in page


@pytest.mark.parametrize("package, program", PROGRAMS)
def test_every_command_has_its_place_in_the_manual(content, package, program):
    """Every command is in the manual page of its program."""
    page = next((content[package] / "usr/share/man").glob(f"man[18]/{program}.*.gz"))
    page = gzip.decompress(page.read_bytes()).decode().replace("\\-", "-")
    told = subprocess.check_output([content[package] / "usr/bin" / program, "--experimental-dump-help"])
    commands = [part["commandName"] for part in json.loads(told)["command"]["subcommands"]]
    assert len(commands) > 5
    for command in commands:
        assert command == "help" or f'.SS "{command}' in page


@pytest.mark.parametrize("package, program", PROGRAMS)
@pytest.mark.parametrize("shell, place", COMPLETIONS)
def test_a_shell_can_read_its_completions(content, package, program, shell, place):
    file = content[package] / "usr/share" / place.format(program)
    assert program in file.read_text()
    if shutil.which(shell):
        subprocess.run([shell, "-n", file], check=True, timeout=10)


def test_bash_completes_a_command(content):
    file = content["smartplug-firmware"] / "usr/share/bash-completion/completions/plugd"
    line = "COMP_WORDS=(plugd pre); COMP_CWORD=1; COMP_LINE='plugd pre'; COMP_POINT=9"
    script = f'. {file}; {line}; _plugd plugd pre plugd; echo "${{COMPREPLY[@]}}"'
    path = f"{content['smartplug-firmware']}/usr/bin:{os.environ['PATH']}"
    completed = subprocess.check_output(["bash", "-c", script], env={**os.environ, "PATH": path}, text=True)
    assert completed.split() == ["press"]


def test_the_firmware_needs_the_libgpiod_that_it_loads_itself(packages):
    """The firmware package depends on either version of libgpiod."""
    needs = subprocess.check_output(["dpkg-deb", "--field", packages["smartplug-firmware"], "Depends"], text=True)
    assert "libgpiod2 | libgpiod3" in needs.split(", ")


def test_scripts_have_their_program_and_it_its_libraries(content, packages):
    """The script host is installed, and the package depends on its libraries."""
    program = content["smartplug-controller"] / "usr/lib/smartplug/plugctl-script"
    assert program.stat().st_mode & 0o777 == 0o755
    needs = subprocess.check_output(["dpkg-deb", "--field", packages["smartplug-controller"], "Depends"], text=True)
    assert "liblua5.4-0" in needs and "libseccomp2" in needs
