# Makes the Debian packages. The build is reproducible: the same commit and programs give the same bytes. Sourced.
# Expects: programs, output, compression.

declare -A program_of=([firmware]=plugd [controller]=plugctl)
# The program that each package installs in ../lib/smartplug, where the main program searches for it.
declare -A companion_of=([controller]=plugctl-script)
declare -A section_of=([firmware]=8 [controller]=1)

# name_version: derives the version from the time of the last commit, so that newer commits have higher versions.
name_version() {
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) && export SOURCE_DATE_EPOCH
    commit=$(git rev-parse HEAD)
    author=$(git log -1 --format='%an <%ae>')
    release=$(sed -nE 's/.*firmwareVersion = "(.*)"/\1/p' Firmware/PlugService/PlugService.swift)
    version=$release+git$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y%m%d.%H%M%S)
}

# make_package firmware|controller: writes the package to the folder `output` and removes its earlier versions.
make_package() {
    local name=smartplug-$1 program=${program_of[$1]} companion=${companion_of[$1]:-} architecture file
    tree=$(mktemp -d)
    chmod 755 "$tree"  # dpkg-deb stores the mode of this folder in the package.
    trap 'rm -rf "$tree"' EXIT
    architecture=$(architecture_of "$programs/$program")
    put 755 "$programs/$program" usr/bin/
    if [[ -n $companion ]]; then put 755 "$programs/$companion" usr/lib/smartplug/; fi
    add_completions "$program"
    add_program_page "$program" "${section_of[$1]}"
    add_documents "$name"
    "add_$1"
    add_control "$1" "$name" "$architecture" "$(libraries_of "$programs/$program" ${companion:+"$programs/$companion"})"
    find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    file=$output/${name}_${version}_$architecture.deb
    rm -f "$output/${name}"_*_"$architecture".deb
    dpkg-deb --root-owner-group "${compression[@]}" --build "$tree" "$file" >/dev/null
    say "$file: $(stat --format=%s "$file" | numfmt --to=si --format=%.2f --suffix=B)"
    rm -rf "$tree"
    trap - EXIT
}

# put MODE FILE PLACE: copies a file to PLACE in the package. PLACE is a folder if it ends with a slash.
put() {
    local place=$tree/$3
    if [[ $place == */ ]]; then place+=${2##*/}; fi
    install -D --mode="$1" "$2" "$place"
}

# add_firmware: adds the files of the firmware package.
add_firmware() {
    local packaging=Firmware/Packaging script profile
    put 644 $packaging/plugd.toml etc/smartplug/
    printf '%s\n' /etc/smartplug/plugd.toml | control_file conffiles
    put 644 $packaging/plugd.service usr/lib/systemd/system/
    put 644 $packaging/smartplug.rules usr/lib/udev/rules.d/60-smartplug.rules
    for profile in $packaging/profiles/*.toml; do
        if [[ -e $profile ]]; then put 644 "$profile" usr/share/doc/smartplug-firmware/profiles/; fi
    done
    python3 Scripts/lib/man_pages.py configuration "$release" <$packaging/plugd.toml | zipped usr/share/man/man5/plugd.toml.5
    for script in $packaging/maintainer/*; do put 755 "$script" DEBIAN/; done
}

# add_controller: adds the files of the controller package. Installing it starts no daemon, because the service runs per user.
add_controller() { put 644 Controller/Packaging/smartplug-controller.service usr/lib/systemd/user/; }

# add_completions PROGRAM: adds the completion scripts that the program generates.
add_completions() {
    "$programs/$1" --generate-completion-script bash | sed '1{/^#!/d}' | written usr/share/bash-completion/completions/"$1"
    "$programs/$1" --generate-completion-script zsh | written usr/share/zsh/vendor-completions/_"$1"
    "$programs/$1" --generate-completion-script fish | written usr/share/fish/vendor_completions.d/"$1".fish
}

# add_program_page PROGRAM SECTION: adds the manual page that is generated from the program's help.
add_program_page() {
    "$programs/$1" --experimental-dump-help | python3 Scripts/lib/man_pages.py program "$release" |
        zipped "usr/share/man/man$2/$1.$2"
}

# add_documents PACKAGE: adds the copyright file and the changelog with the commit.
add_documents() {
    local folder=usr/share/doc/$1
    tell_copyright "$1" | written "$folder/copyright"
    printf '%s (%s) stable; urgency=medium\n\n  * Built from commit %s.\n\n -- %s  %s\n' "$1" "$version" "$commit" "$author" \
        "$(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")" | zipped "$folder/changelog"
}

# tell_copyright PACKAGE: prints the copyright file. It has the licenses of the libraries that are linked into the programs.
tell_copyright() {
    local file
    cat <<END
This is $1, of the open smart plug. Copyright: the authors of its history, at
the last commit $author.
License: Apache License 2.0.

Inside the program are the Swift runtime and libraries of others, under the licenses and with the notices below. The text of the
Apache License 2.0 is /usr/share/common-licenses/Apache-2.0.
END
    while read -r file; do
        printf '\n\n======== %s ========\n\n' "$(basename "$(dirname "$file")"): $(basename "$file")"
        awk '/^ *Apache License *$/ { skips = 1; print "Apache License 2.0" }
            !skips
            /See the License for the specific language/ { ends = skips }
            ends && /limitations under the License/ { skips = ends = 0 }' "$file"
    done < <(licenses)
}

# licenses: prints the paths of the licenses of all Swift packages, of the Swift runtime, and of toml++, which is a C++ header.
licenses() {
    find "$(realpath -m "$programs/../../checkouts")" -mindepth 2 -maxdepth 4 -regex '.*/\(LICENSE\|NOTICE\)\(\.txt\)?' 2>/dev/null |
        LC_ALL=C sort
    realpath "$(dirname "$(realpath "$(command -v swift)")")/../share/swift/LICENSE.txt"
    echo /usr/share/doc/libtomlplusplus-dev/copyright
}

# add_control KIND PACKAGE ARCHITECTURE LIBRARIES
add_control() {
    local needs=$4 about=()
    if [[ $1 == firmware ]]; then
        # plugd loads one of the two libgpiod versions if a part uses a GPIO line.
        needs="adduser, libgpiod2 | libgpiod3, $needs"
        # plugd loads libmosquitto for [mqtt] in its configuration, and libgmp for HomeKit pairing.
        needs+=$'\nSuggests: libmosquitto1, libgmp10'
        about=(
            "firmware of an open smart plug"
            " plugd turns a board with a relay into a smart plug. Clients find the plug by"
            " name, switch and dim it, and receive the events of its button and the"
            " readings of its power meter. The service starts only if"
            " /etc/smartplug/plugd.toml names its parts."
        )
    else
        # plugctl needs these only for PNG charts, PostgreSQL, Prometheus remote write and mail notifications.
        needs+=$'\nSuggests: librsvg2-bin, fonts-dejavu-core, libnotify-bin, libpq5, libsnappy1v5, msmtp-mta | mail-transport-agent'
        about=(
            "controller of open smart plugs"
            " plugctl finds smart plugs on the local network, switches, dims and follows them,"
            " charts their power and runs rules and scripts on them."
        )
    fi
    (cd "$tree" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort --zero-terminated | xargs --null md5sum) |
        control_file md5sums
    control_file control <<END
Package: $2
Version: $version
Architecture: $3
Maintainer: $author
Installed-Size: $(du --apparent-size --summarize --block-size=1K "$tree" | cut -f 1)
Depends: $needs
Section: net
Priority: optional
Description: $(printf '%s\n' "${about[@]}")
END
}

# architecture_of PROGRAM: prints Debian's name of the program's architecture.
architecture_of() {
    local machine
    machine=$(LC_ALL=C readelf --file-header "$1" | sed -nE 's/ *Machine: *(.*)/\1/p')
    case $machine in
    *X86-64) echo amd64 ;;
    AArch64) echo arm64 ;;
    ARM) echo armhf ;;
    *) stop "$1 is a program for $machine, which is not supported" ;;
    esac
}

# libraries_of PROGRAM...: prints the dependencies on the packages of linked libraries, with minimum versions.
libraries_of() {
    local place result program files=()
    place=$(mktemp -d)
    for program; do files+=("-e$(realpath "$program")"); done
    mkdir "$place/debian"
    printf 'Source: smartplug\n\nPackage: smartplug\nArchitecture: any\n' >"$place/debian/control"
    result=$(cd "$place" && dpkg-shlibdeps -O "${files[@]}" 2>errors) || {
        cat "$place/errors" >&2
        stop "dpkg-shlibdeps cannot resolve the libraries of $*" "make the package for another processor on that processor"
    }
    rm -rf "$place"
    echo "${result#shlibs:Depends=}"
}

# written PLACE, zipped PLACE, control_file NAME: write standard input to a file of the package.
written() {
    mkdir -p "$tree/$(dirname "$1")"
    cat >"$tree/$1"
    chmod 644 "$tree/$1"
}
zipped() { gzip --no-name --best | written "$1.gz"; }
control_file() { written "DEBIAN/$1"; }
