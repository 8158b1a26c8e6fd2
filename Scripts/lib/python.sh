# Installs the pinned Python tools of the tests in a virtual environment. Sourced.

python_environment=.build-python

# require_python_tools REQUIREMENTS: creates the environment, and recreates it if the list has changed.
require_python_tools() {
    if cmp -s "$1" "$python_environment/installed.txt"; then return; fi
    say "installing the Python tools"
    rm -rf "$python_environment"
    quietly .build-logs/python.log python3 -m venv "$python_environment" &&
        quietly .build-logs/python.log "$python_environment/bin/pip" install --quiet --disable-pip-version-check \
            --requirement "$1" &&
        cp "$1" "$python_environment/installed.txt"
}

# home_assistant_python: prints the path of Python 3.13, which Home Assistant requires.
home_assistant_python() {
    local python
    for python in "$(command -v python3.13)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13.*/bin/python3.13; do
        # pyenv may have the command python3.13 without having that version.
        if [[ -x $python ]] && "$python" -c 'import ensurepip' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    return 1
}

# home_assistant_environment REQUIREMENTS: prints the folder of the environment (700 MB), which all checkouts share.
home_assistant_environment() {
    echo "${XDG_CACHE_HOME:-$HOME/.cache}/smartplug/home-assistant-$(sha256sum "$1" | cut -c 1-12)"
}

# require_home_assistant REQUIREMENTS: creates the environment if it is missing, and removes the environments of other lists.
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
