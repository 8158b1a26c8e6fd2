# Installs missing packages with apt-get on Debian and Raspberry Pi OS; on other systems it prints their names. Sourced.

PATH=$PATH:/usr/sbin:/sbin  # Debian's ip and avahi-daemon are in these folders, which are not in a user's path.

# Columns: purpose, Debian package, and the evidence that it is installed: a command, a statically linked command, a C header, a Python
# module, a file or a library that is loaded by its name.
needed_packages='
build            liblzma-dev   header lzma.h
build            libqrencode-dev  header qrencode.h
build            libseccomp-dev  header seccomp.h
build            liblua5.4-dev  header lua5.4/lua.h
build            lua-cjson-dev  header lua5.4/lua-cjson.h
build            libtomlplusplus-dev  header toml++/toml.h
build            libsqlite3-dev  header sqlite3.h
build            openssl       command openssl
build            ccache        command ccache
build            libgmp10      library libgmp.so.10
demo             iproute2      command ip
demo-broker      mosquitto     command mosquitto
demo-broker      mosquitto-clients  command mosquitto_sub
demo-broker      libmosquitto1  library libmosquitto.so.1
bench            gcc           command cc
bench            valgrind      command valgrind
bench            mosquitto     command mosquitto
bench            libmosquitto-dev  header mosquitto.h
bench            mosquitto-clients  command mosquitto_sub
bench            libldns-dev   header ldns/ldns.h
bench            libgpiod-dev  header gpiod.h
profile          valgrind      command valgrind
profile          binutils      command objcopy
bench-fleet      ejabberd      command ejabberdctl
bench-fleet      libmosquitto1  library libmosquitto.so.1
bench-fleet      postgresql-15  file /usr/lib/postgresql/15/bin/postgres
bench-fleet      libpq5        library libpq.so.5
bench-addressing avahi-autoipd  command avahi-autoipd
bench-addressing udhcpc        command udhcpc
bench-addressing isc-dhcp-client  command dhclient
bench-addressing dhcpcd-base   command dhcpcd
bench-dashboard  nginx-light   command nginx
home-assistant   gcc           command cc
web              chromium      command chromium
web              w3m           command w3m
interoperability prometheus    command promtool
package          dpkg-dev      command dpkg-buildpackage
package          debhelper     command dh
arm64            mmdebstrap    command mmdebstrap
arm64            util-linux    command unshare
arm64            qemu-user-static  command qemu-aarch64-static
arm64            binutils-aarch64-linux-gnu  command aarch64-linux-gnu-objdump
generate         protobuf-compiler  command protoc
interoperability iproute2      command ip
interoperability util-linux    command nsenter
interoperability dbus          command dbus-daemon
interoperability python3-dbus  file /usr/lib/python3/dist-packages/dbus/__init__.py
interoperability python3-gi    file /usr/lib/python3/dist-packages/gi/__init__.py
interoperability libnotify-bin  command notify-send
interoperability avahi-daemon  command avahi-daemon
interoperability avahi-utils   command avahi-browse
interoperability tshark        command tshark
interoperability tcpdump       command tcpdump
interoperability iputils-ping  command ping
interoperability iputils-arping  command arping
interoperability nftables      command nft
interoperability mosquitto     command mosquitto
interoperability mosquitto-clients  command mosquitto_rr
interoperability ejabberd      command ejabberdctl
interoperability libmosquitto1  library libmosquitto.so.1
interoperability postgresql-15  file /usr/lib/postgresql/15/bin/postgres
interoperability victoria-metrics  command victoria-metrics
interoperability libpq5        library libpq.so.5
interoperability libsnappy1v5  library libsnappy.so.1
interoperability curl          command curl
interoperability librsvg2-bin  command rsvg-convert
interoperability fonts-dejavu-core  file /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
interoperability dnsmasq-base  command dnsmasq
wide-area        bind9         command named
wide-area        knot          command knotd
wide-area        bind9-dnsutils  command nsupdate
wide-area        miniupnpd-nftables  command miniupnpd
interoperability isc-dhcp-server  command dhcpd
interoperability kea-dhcp4-server  command kea-dhcp4
interoperability python3-venv  module ensurepip
sleep-proxy      ndisc6        command ndisc6
hardware         qemu-system-x86  command qemu-system-x86_64
hardware         busybox-static  static busybox
hardware         cpio          command cpio
hardware         gcc-12        command gcc-12
hardware         make          command make
hardware         xz-utils      command xz
hardware         hostapd       command hostapd
hardware         wpasupplicant  command wpa_supplicant
hardware         iw            command iw
hardware         libelf1       file /usr/lib/x86_64-linux-gnu/libelf.so.1
hardware         python3-venv  module ensurepip
hardware-arm64   qemu-system-arm  command qemu-system-aarch64
hardware-arm64   gcc-12-aarch64-linux-gnu  command aarch64-linux-gnu-gcc-12
hardware-arm64   libc6-dev-arm64-cross  file /usr/aarch64-linux-gnu/include/stdio.h
programs         python3-venv  module ensurepip
programs         weasyprint    command weasyprint
image-test       qemu-system-x86  command qemu-system-x86_64
image-test       ovmf          file /usr/share/OVMF/OVMF_CODE_4M.fd
image-test       fdisk         command sfdisk
image-test       openssh-client  command ssh
image-test       python3-venv  module ensurepip
image-test-arm64  qemu-system-arm  command qemu-system-aarch64
image-test-arm64  qemu-efi-aarch64  file /usr/share/AAVMF/AAVMF_CODE.fd
image            mmdebstrap    command mmdebstrap
image            genimage      command genimage
image            squashfs-tools  command sqfstar
image            dosfstools    command mkdosfs
image            mtools        command mcopy
image            dpkg-dev      command dpkg-scanpackages
image            rauc          command rauc
image            openssl       command openssl
image-foreign    qemu-user-static  command qemu-aarch64-static
image-foreign    arch-test     command arch-test
packages         mmdebstrap    command mmdebstrap
packages         groff-base    command groff
packages         iproute2      command ip
packages         util-linux    command nsenter
packages         python3-venv  module ensurepip
conformance      iproute2      command ip
conformance      util-linux    command nsenter
conformance      python3-venv  module ensurepip
conformance-avahi  dbus          command dbus-daemon
conformance-avahi  avahi-daemon  command avahi-daemon
conformance-avahi  avahi-utils   command avahi-publish
conformance-mdnsd  mdnsd         command mdnsd
conformance-avahi-autoipd  avahi-autoipd  command avahi-autoipd
'

# require_packages PURPOSE...: installs the missing packages of these purposes.
require_packages() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    if ((${#missing[@]})); then install_packages "${missing[@]}"; fi
}

# missing_packages PURPOSE...: prints one package per line.
missing_packages() {
    local purpose package kind name
    while read -r purpose package kind name; do
        if [[ " $* " == *" $purpose "* ]] && ! is_present "$kind" "$name"; then echo "$package"; fi
    done < <(grep . <<<"$needed_packages")
}

is_present() {
    case $1 in
    command) command -v "$2" >/dev/null ;;
    header) echo "#include <$2>" | cc -E - >/dev/null 2>&1 || [[ -e /usr/include/$2 ]] ;;
    static) command -v "$2" >/dev/null && ! ldd "$(command -v "$2")" >/dev/null 2>&1 ;;
    file) [[ -e $2 ]] ;;
    library) grep -qF "$2" <<<"$(ldconfig -p)" ;;
    module) python3 -c "import $2" 2>/dev/null ;;
    esac
}

install_packages() {
    if ! is_debian; then
        stop "these packages are missing: $*" "these are Debian's names; install the equivalent packages of your system"
    elif ((EUID != 0)) || ! ${installs:-true}; then
        stop "these packages are missing: $*" "sudo apt-get install --no-install-recommends $*"
    fi
    say "installing with apt-get: $*"
    if ! without_starting_services apt_install "$@" >/dev/null 2>&1; then
        # The package lists may be missing or out of date.
        if ! quietly .build-logs/apt.log apt-get update ||
            ! quietly .build-logs/apt.log without_starting_services apt_install "$@"; then
            stop "apt-get could not install $*"
        fi
    fi
}

is_debian() {
    command -v apt-get >/dev/null && grep -qE '^ID(_LIKE)?=.*(debian|raspbian)' /etc/os-release
}

apt_install() {
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@" </dev/null
}

# Prevents packages from starting their daemons during installation. The tests start their own daemons.
without_starting_services() (
    policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
        trap 'rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
    fi
    "$@"
)

require_swift() {
    local version major minor
    command -v swift >/dev/null || stop "swift is not installed" "install Swift 6.3 or later from https://swift.org/install"
    version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+)\.([0-9]+).*/\1 \2/p' | head -n 1)
    read -r major minor <<<"${version:-0 0}"
    ((major > 6 || (major == 6 && minor >= 3))) ||
        stop "Swift $major.$minor is too old" "install Swift 6.3 or later from https://swift.org/install"
}
