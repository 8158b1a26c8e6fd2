# The compiler and the Swift SDK that build programs for arm64 on amd64, made from Debian's packages. Sourced.
#
# The only Debian with Swift is sid, whose programs need sid's C library. So the compiler is in the folder `compiler/usr`, which
# `within_compiler` mounts on /usr. The programs are for Debian 13: the SDK has its headers and libraries, and the Swift libraries for arm64.

swift_package_version=6.2.3-1+b1
# Columns: package, architecture, SHA-256. sid keeps no older versions.
swift_packages='
swiftlang     amd64  7a02c790f6d74b0ea59ed315bed674165d9ca5703bb8c85f4aff38611d1b32fd
libswiftlang  amd64  ed4b21c3788df21a3b2239546a9f6359c324cee581c6b51927e6ef1b62f5aaac
swiftlang     arm64  bda5df23d26eec0cc7058924611b42bb27667252a0280fb490e4969dbbd975df
'
mirror=http://deb.debian.org/debian
# Packages that SwiftPM, the compilers and the wrappers in Scripts/lib use.
compiler_packages=bash,dash,coreutils,grep,sed,findutils,libc-bin,python3,git,ccache,binutils,g++,libc6-dev,libpython3.14,libxml2-16
compiler_packages+=,libedit2,libncurses6,libsqlite3-0,libcurl4t64,libzstd1,zlib1g,libuuid1
sysroot_packages=libc6-dev,libgcc-14-dev,libstdc++-14-dev,libseccomp-dev,liblzma-dev,libqrencode-dev,libtomlplusplus-dev
sysroot_packages+=,libsqlite3-dev,liblua5.4-dev,lua-cjson-dev

# The folder of the compiler and the SDK (2 GB), which all checkouts share. They are made again when this file changes.
arm64_folder=${XDG_CACHE_HOME:-$HOME/.cache}/smartplug/arm64
arm64_key=$(sha256sum <"${BASH_SOURCE[0]}")
arm64_sysroot=$arm64_folder/debian-arm64.artifactbundle/debian-arm64/sysroot

# within_compiler COMMAND...: runs the command with the /usr of the compiler. Other folders are those of this machine.
within_compiler() {
    local options=(--mount)
    if ((EUID != 0)); then options+=(--map-root-user); fi
    # shellcheck disable=SC2016
    unshare "${options[@]}" bash -c 'mount --rbind "$0" /usr && PATH=/usr/libexec/swift/bin:/usr/bin exec "$@"' "$arm64_folder/compiler/usr" "$@"
}

why_not_arm64() {
    if ! is_debian || [[ $(dpkg --print-architecture) != amd64 ]]; then
        echo "the cross compiler is made of Debian's packages for amd64"
    elif ! unshare --mount --map-root-user true 2>/dev/null; then
        echo "the cross compiler needs a mount namespace, which this machine does not permit"
    elif ! has_arm64 && ! fetch_swift "$arm64_folder/downloads"; then
        echo "the mirror $mirror does not have Swift $swift_package_version"
    fi
}

has_arm64() { [[ $(cat "$arm64_folder/complete" 2>/dev/null) == "$arm64_key" ]]; }

# require_arm64: makes the compiler and the SDK if they are missing.
require_arm64() {
    if has_arm64; then return; fi
    require_packages arm64
    say "making the compiler for arm64"
    rm -rf "$arm64_folder"/{complete,compiler,debian-arm64.artifactbundle}
    fetch_swift "$arm64_folder/downloads" ||
        stop "$mirror does not have Swift $swift_package_version" "set SMARTPLUG_DOWNLOADS to a folder with its packages"
    make_compiler && make_sdk && rm -rf "$arm64_folder/downloads" && echo "$arm64_key" >"$arm64_folder/complete"
}

# fetch_swift FOLDER: puts the packages into the folder. A package in the folder SMARTPLUG_DOWNLOADS is not downloaded.
fetch_swift() {
    local package architecture hash file
    mkdir -p "$1"
    while read -r package architecture hash; do
        file=${package}_${swift_package_version}_$architecture.deb
        if [[ -e ${SMARTPLUG_DOWNLOADS:-}/$file ]]; then ln -sf "$(realpath "$SMARTPLUG_DOWNLOADS/$file")" "$1/$file"; fi
        if sha256sum --status --check <<<"$hash  $1/$file" 2>/dev/null; then continue; fi
        /usr/lib/apt/apt-helper download-file "$mirror/pool/main/s/swiftlang/$file" "$1/$file" "SHA256:$hash" >/dev/null || return
    done < <(grep . <<<"$swift_packages")
}

# unpack PACKAGE ARCHITECTURE OPTIONS...: unpacks a package of Swift with these options of tar.
unpack() {
    dpkg-deb --fsys-tarfile "$arm64_folder/downloads/$1_${swift_package_version}_$2.deb" | tar --extract "${@:3}"
}

make_compiler() {
    local compiler=$arm64_folder/compiler
    mkdir -p "$compiler"
    # sid's list of packages may be older than its validity. Debuggers, editors and the libraries of other systems are three quarters of
    # the package of the compiler.
    mmdebstrap --quiet --variant=extract --aptopt='Acquire::Check-Valid-Until "false"' --include="$compiler_packages" sid - "$mirror" |
        tar --extract --directory "$compiler" --exclude='./usr/share/*' ./usr &&
        unpack swiftlang amd64 --directory "$compiler" --exclude='liblldb*' --exclude='lldb*' --exclude='libsourcekitd*' \
            --exclude='sourcekit-lsp' --exclude='libclang.so*' --exclude='clangd' --exclude='libLTO*' --exclude='docc' \
            --exclude='swift-format' --exclude='swift_static' --exclude='lib/swift/embedded' --exclude='FrameworkABIBaseline' \
            ./usr/libexec ./usr/bin &&
        unpack libswiftlang amd64 --directory "$compiler" ./usr/libexec
}

make_sdk() {
    local bundle=${arm64_sysroot%/*/*}
    mkdir -p "$arm64_sysroot"
    ln -s usr/lib "$arm64_sysroot/lib"
    cat >"$bundle/info.json" <<'END'
{"schemaVersion": "1.0", "artifacts": {"debian-arm64": {"type": "swiftSDK", "version": "13", "variants": [{"path": "debian-arm64"}]}}}
END
    cat >"$bundle/debian-arm64/swift-sdk.json" <<'END'
{"schemaVersion": "4.0", "targetTriples": {"aarch64-unknown-linux-gnu": {
    "sdkRootPath": "sysroot", "swiftResourcesPath": "sysroot/usr/lib/swift_static", "toolsetPaths": ["toolset.json"]}}}
END
    cat >"$bundle/debian-arm64/toolset.json" <<'END'
{"schemaVersion": "1.0", "rootPath": "/usr/libexec/swift/bin", "swiftCompiler": {"extraCLIOptions": ["-use-ld=lld"]}, "linker": {"path": "ld.lld"}}
END
    # The hook collects which package each library belongs to, for the dependencies of the packages. The programs contain their Swift
    # libraries.
    # shellcheck disable=SC2016
    mmdebstrap --quiet --variant=extract --architectures=arm64 --include="$sysroot_packages" --extract-hook='
        for package in "$1"/var/cache/apt/archives/*.deb; do
            dpkg-deb --ctrl-tarfile "$package" | tar --extract --to-stdout ./shlibs 2>/dev/null
        done >"$1/usr/shlibs"; true' trixie - "$mirror" | tar --extract --directory "$arm64_sysroot" ./usr &&
        unpack swiftlang arm64 --directory "$arm64_sysroot/usr" --strip-components=4 --exclude='*/embedded' \
            ./usr/libexec/swift/lib/{swift_static,clang}
}
