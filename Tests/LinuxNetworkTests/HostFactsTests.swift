import DNSWire
import Glibc
import ProtocolCore
import Testing

@testable import LinuxNetwork
import LinuxSystem

/// Tests of the parsers of the kernel's tables in /proc, and of the clocks.
@Suite("Tables of the kernel, and clocks")
struct HostFactsTests {
    @Test("Sockets in /proc/net/udp and udp6 are parsed, and other lines are skipped")
    func sockets() {
        let text = """
               sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
             2050: 00000000:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000   108        0 5076787 2 00000000d69dfba6 0
              421: 00000000000000000000000000000000:14E9 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 77 2 0000000000000000 0
              999: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000   101        0 12 2 0000000000000000 0
             nothing that the kernel writes
             1: 00000000:XXXX 00000000:0000 07 00000000:00000000 00:00000000 00000000   108        0 5 2 0 0
            """
        #expect(
            SocketEntry.parse(text) == [
                SocketEntry(port: 5353, user: 108, inode: 5_076_787), SocketEntry(port: 5353, user: 0, inode: 77),
                SocketEntry(port: 53, user: 101, inode: 12),
            ])
        #expect(SocketEntry.parse("") == [])
    }

    @Test("The local IPv4 addresses of TCP connections are parsed; listening sockets and TIME_WAIT are left out")
    func connections() {
        let text = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0807FEA9:1F90 0102FEA9:C350 01 00000000:00000000 00:00000000 00000000     0        0 7
               1: 0907FEA9:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 8
               2: 0A07FEA9:1F90 0102FEA9:C351 06 00000000:00000000 00:00000000 00000000     0        0 0
               3: 0000000000000000FFFF00000B07FEA9:1F90 0000000000000000FFFF00000102FEA9:C352 08 00000000:00000000 0 0 0
               4: 000080FE000000000000000001000000:1F90 000080FE000000000000000002000000:C352 01 00000000:00000000 0 0 0
            nothing that the kernel writes
            """
        #expect(
            ConnectionEnds.parse(text) == [IPv4Address(169, 254, 7, 8), IPv4Address(169, 254, 7, 11)])
        #expect(ConnectionEnds.parse("") == [])
    }

    @Test("IPv4 memberships belong to the last interface that is listed before them")
    func membershipsV4() {
        let text = """
            Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter
            1\tlo        :     1      V3
            \t\t\t\t010000E0     1 0:00000000\t\t0
            2\teth0      :     2      V3
            \t\t\t\tFB0000E0     2 0:00000000\t\t0
            \t\t\t\t010000E0     1 0:00000000\t\t0
            3\twlan0:     2      V2
            \t\t\t\tFB0000E0     1 0:00000000\t\t0
            """
        #expect(GroupMemberships.membersV4(text) == ["eth0", "wlan0"])
        #expect(GroupMemberships.membersV4("") == [])
    }

    @Test("IPv6 memberships are parsed with their interface")
    func membershipsV6() {
        let text = """
            1    lo              ff020000000000000000000000000001     1 0000000C 0
            2    eth0            ff0200000000000000000000000000fb     1 00000004 0
            2    eth0            ff020000000000000000000000000001     1 0000000C 0
            """
        #expect(GroupMemberships.membersV6(text) == ["eth0"])
    }

    @Test("A step of the wall clock is its change minus the change of the boot clock in the same time")
    func step() {
        let first = ClockState(
            wall: WallTime(nanosecondsSince1970: 5_000_000_000), sinceBoot: Instant(nanoseconds: 1_000_000_000),
            isSynchronized: true)
        var later = first
        later.sinceBoot = Instant(nanoseconds: 4_000_000_000)
        later.wall = WallTime(nanosecondsSince1970: 8_000_000_000)
        #expect(first.step(until: later) == .zero)
        later.wall = WallTime(nanosecondsSince1970: 2_000_000_000)
        #expect(first.step(until: later) == .seconds(-6))
    }

    @Test("The tables of this host can be read, and do not list this process among the other processes")
    func thisHost() {
        let state = ClockState.now
        #expect(state.wall > WallTime(nanosecondsSince1970: 0) && state.sinceBoot > .zero)
        #expect(GroupMemberships.current() != nil)
        let own = PortHolder.others(ofPort: 5353).compactMap(\.process).filter { $0.id == getpid() }
        #expect(own.isEmpty)
    }
}
