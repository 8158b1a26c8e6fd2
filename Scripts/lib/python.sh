# Installs pinned Python packages in virtual environments, which all checkouts share. Sourced.

# require_python_tools REQUIREMENTS: creates the environment of the tests' tools, and the link .build-python to it.
require_python_tools() {
    require_shared_environment python "$1" python3 || return
    if [[ ! -L .build-python ]]; then rm -rf .build-python; fi
    ln -sfn "$(shared_environment python "$1")" .build-python
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

# shared_environment NAME REQUIREMENTS: prints the folder of an environment that all checkouts share.
shared_environment() {
    echo "${XDG_CACHE_HOME:-$HOME/.cache}/smartplug/$1-$(sha256sum "$2" | cut -c 1-12)"
}

# require_shared_environment NAME REQUIREMENTS PYTHON [pip's options]: creates the environment if it is missing, and removes the
# environments of other lists.
require_shared_environment() {
    local name=$1 requirements=$2 python=$3 environment
    environment=$(shared_environment "$name" "$requirements")
    shift 3
    if [[ -e $environment/complete ]]; then return; fi
    say "installing the Python environment $name"
    rm -rf "${environment%-*}"-*
    quietly ".build-logs/$name.log" "$python" -m venv "$environment" &&
        quietly ".build-logs/$name.log" "$environment/bin/pip" install --quiet --disable-pip-version-check "$@" --requirement "$requirements" &&
        touch "$environment/complete"
}

# require_home_assistant: creates the environment of Home Assistant (700 MB).
require_home_assistant() {
    require_shared_environment home-assistant Tests/HomeAssistant/requirements.txt "$(home_assistant_python)"
}

# require_matter: creates the environment of the Matter SDK's controller (140 MB). The list is complete, and leaves out the SDK's
# interactive shell.
require_matter() {
    require_shared_environment matter Tests/Matter/requirements.txt python3 --no-deps
}
