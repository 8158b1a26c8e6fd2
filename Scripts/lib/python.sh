# The Python tools of the tests, pinned, in an environment of their own. Sourced.

python_environment=.build-python

# require_python_tools REQUIREMENTS: makes the environment anew when the list has changed.
require_python_tools() {
    if cmp -s "$1" "$python_environment/installed.txt"; then return; fi
    say "installing the Python tools"
    rm -rf "$python_environment"
    quietly .build-logs/python.log python3 -m venv "$python_environment" &&
        quietly .build-logs/python.log "$python_environment/bin/pip" install --quiet --disable-pip-version-check \
            --requirement "$1" &&
        cp "$1" "$python_environment/installed.txt"
}

# home_assistant_python: where Python 3.13 is, which Home Assistant wants.
home_assistant_python() {
    local python
    for python in "$(command -v python3.13)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13.*/bin/python3.13; do
        # A command of pyenv may be there without the version that it stands for.
        if [[ -x $python ]] && "$python" -c 'import ensurepip' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    return 1
}

# home_assistant_environment REQUIREMENTS: the folder of the environment, 700 MB, which all checkouts share.
home_assistant_environment() {
    echo "${XDG_CACHE_HOME:-$HOME/.cache}/smartplug/home-assistant-$(sha256sum "$1" | cut -c 1-12)"
}

# require_home_assistant REQUIREMENTS: makes the environment where it is not there. Those of other lists are removed.
require_home_assistant() {
    local environment
    environment=$(home_assistant_environment "$1")
    if [[ -e $environment/complete ]]; then return; fi
    say "installing Home Assistant"
    rm -rf "${environment%-*}"-*
    quietly .build-logs/home-assistant.log "$(home_assistant_python)" -m venv "$environment" &&
        quietly .build-logs/home-assistant.log "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$1" &&
        touch "$environment/complete"
}
