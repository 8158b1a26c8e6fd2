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

# generate_python_messages: the protocol's messages for the second client.
generate_python_messages() {
    mkdir -p "$python_environment/generated"
    quietly .build-logs/python.log "$python_environment/bin/python" -m grpc_tools.protoc -I Sources/PlugProtocol \
        --python_out "$python_environment/generated" smartplug.proto description.proto pairing.proto log.proto audit.proto samples.proto
}
