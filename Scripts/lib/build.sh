# Builds the tests, the programs and the guest. Sourced.
#
# There are two build folders, since tests look inside the modules (-enable-testing) and shipped programs must not pay for it.
# Everything else about them is equal, so that both take compiled libraries from one cache.

settings=(-c release --disable-index-store --no-color-diagnostics)
# The tests, and the programs that tests drive without judging their size, memory or speed.
tests_folder=.build-tests
tests=$tests_folder/release/smartplugPackageTests.xctest
# The programs as they are shipped.
shipped_folder=.build-release
driven_programs=(plugd plugctl plugctl-script FollowPlug ButtonTurnsLamp DecodeMessages)

# The cache of compiled modules and C files is shared by all checkouts on this machine. SMARTPLUG_CACHE names another folder, or
# is "off".
cache=${SMARTPLUG_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/smartplug}

# swift_build FOLDER OPTIONS...: compilers are called through wrappers that use the cache and note how long they took.
swift_build() {
    local folder=$1 toolchain
    shift
    toolchain=$(dirname "$(realpath "$(command -v swift)")")
    SMARTPLUG_SHIPPED=1 SMARTPLUG_ROOT=$PWD SMARTPLUG_CACHE=$cache SMARTPLUG_SWIFTC=$toolchain/swiftc \
        SMARTPLUG_CLANG=$toolchain/clang SWIFT_EXEC=$PWD/Scripts/lib/swiftc CC=$PWD/Scripts/lib/clang \
        swift build --scratch-path "$folder" "${settings[@]}" "$@"
}
