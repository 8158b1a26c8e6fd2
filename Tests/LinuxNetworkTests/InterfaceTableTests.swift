import Testing

@testable import LinuxNetwork

@Suite("The table of interfaces")
struct InterfaceTableTests {
    private func links(_ sequence: UInt32) -> [UInt8] {
        NetlinkBuilder.datagram {
            $0.link(1, "lo", flags: 0x49, hardwareAddress: [], carrierChanges: 0, sequence: sequence)
            $0.link(2, "eth0", sequence: sequence)
        }
    }

    private func addresses(_ sequence: UInt32) -> [UInt8] {
        NetlinkBuilder.datagram {
            $0.address(1, [127, 0, 0, 1], 8, sequence: sequence)
            $0.address(2, [192, 0, 2, 1], 24, sequence: sequence)
            $0.done(sequence)
        }
    }

    private let loopback = LinuxInterface(
        index: 1, name: "lo", flags: [.up, .running, .loopback],
        addresses: [.init(bytes: [127, 0, 0, 1], prefixLength: 8)])
    private let ethernet = LinuxInterface(
        index: 2, name: "eth0", flags: .init(rawValue: 0x1043), hardwareAddress: [2, 0, 0, 0, 0, 1], carrierChanges: 1,
        addresses: [.init(bytes: [192, 0, 2, 1], prefixLength: 24)])

    /// Returns a table that has listed loopback and eth0.
    private func listed() -> InterfaceTable {
        var table = InterfaceTable()
        #expect(table.synchronize() == [.send(Netlink.dumpRequest(type: Netlink.getLink, sequence: 1))])
        #expect(table.receive(links(1)) == [])
        let request = InterfaceTable.Action.send(Netlink.dumpRequest(type: Netlink.getAddress, sequence: 2))
        #expect(table.receive(NetlinkBuilder.datagram { $0.done(1) }) == [request])
        #expect(table.receive(addresses(2)) == [.publish([loopback, ethernet])])
        return table
    }

    @Test("Requests have the bytes that rtnetlink expects")
    func requests() {
        let link = Netlink.dumpRequest(type: Netlink.getLink, sequence: 1)
        #expect(link == [32, 0, 0, 0, 18, 0, 1, 3, 1, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 16))
        let address = Netlink.dumpRequest(type: Netlink.getAddress, sequence: 258)
        #expect(address == [24, 0, 0, 0, 22, 0, 1, 3, 2, 1, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8))
    }

    @Test("The table requests links, then addresses, and then publishes one list")
    func listing() { _ = listed() }

    @Test("A change is published; a message without a change is not")
    func following() {
        var table = listed()
        #expect(table.receive(NetlinkBuilder.datagram { $0.link(2, "eth0") }) == [])
        var changed = ethernet
        changed.flags = .init(rawValue: 0x1003)
        changed.carrierChanges = 2
        let down = NetlinkBuilder.datagram { $0.link(2, "eth0", flags: 0x1003, carrierChanges: 2) }
        #expect(table.receive(down) == [.publish([loopback, changed])])
        changed.addresses = []
        let gone = NetlinkBuilder.datagram { $0.address(2, [192, 0, 2, 1], 24, removed: true) }
        #expect(table.receive(gone) == [.publish([loopback, changed])])
        let removed = NetlinkBuilder.datagram { $0.link(2, "eth0", removed: true) }
        #expect(table.receive(removed) == [.publish([loopback])])
    }

    @Test("A wireless event without a name does not change the table")
    func partialEvent() {
        var table = listed()
        #expect(table.receive(NetlinkBuilder.datagram { $0.link(2, nil) }) == [])
        #expect(table.receive(NetlinkBuilder.datagram { $0.link(9, nil) }) == [])
    }

    @Test("A new state of duplicate address detection replaces the previous state of the address")
    func duplicateDetection() {
        let bytes = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
        var table = listed()
        var expected = ethernet
        for (flags, state) in [(UInt32(0xC0), LinuxAddress.State.tentative), (0x80, .usable), (0xC8, .duplicate)] {
            expected.addresses = ethernet.addresses + [LinuxAddress(bytes: bytes, prefixLength: 64, state: state)]
            let datagram = NetlinkBuilder.datagram { $0.address(2, bytes, 64, flags: flags) }
            #expect(table.receive(datagram) == [.publish([loopback, expected])])
        }
    }

    @Test("Lost or unreadable messages cause a new dump, and an equal list is not published again")
    func resynchronization() {
        for lost in [NetlinkBuilder.datagram { $0.overrun() }, [1, 2, 3]] {
            var table = listed()
            #expect(table.receive(lost) == [.send(Netlink.dumpRequest(type: Netlink.getLink, sequence: 3))])
            _ = table.receive(links(3))
            _ = table.receive(NetlinkBuilder.datagram { $0.done(3) })
            #expect(table.receive(addresses(4)) == [])
        }
    }

    @Test("An interrupted dump is repeated after its end, up to a limit")
    func interruptedDump() {
        var table = InterfaceTable()
        _ = table.synchronize()
        var sequence: UInt32 = 1
        for _ in 0..<InterfaceTable.maximumRepetitions {
            let part = NetlinkBuilder.datagram { $0.link(2, "eth0", sequence: sequence, headerFlags: 0x12) }
            #expect(table.receive(part) == [])
            let again = InterfaceTable.Action.send(Netlink.dumpRequest(type: Netlink.getLink, sequence: sequence + 1))
            #expect(table.receive(NetlinkBuilder.datagram { $0.done(sequence) }) == [again])
            sequence += 1
        }
        let part = NetlinkBuilder.datagram {
            $0.link(2, "eth0", sequence: sequence, headerFlags: 0x12)
            $0.done(sequence, headerFlags: 0x12)
        }
        let onward = InterfaceTable.Action.send(Netlink.dumpRequest(type: Netlink.getAddress, sequence: sequence + 1))
        #expect(table.receive(part) == [onward])
    }

    @Test("A refused request fails with the error number")
    func refusal() {
        var table = InterfaceTable()
        _ = table.synchronize()
        #expect(table.receive(NetlinkBuilder.datagram { $0.refused(1, code: 13) }) == [.fail(code: 13)])
    }

    @Test("Interfaces and addresses beyond the limits are ignored")
    func limits() {
        var table = InterfaceTable()
        _ = table.synchronize()
        for index in 1...Int32(InterfaceTable.maximumInterfaces + 10) {
            _ = table.receive(NetlinkBuilder.datagram { $0.link(index, "veth\(index)", sequence: 1) })
        }
        _ = table.receive(NetlinkBuilder.datagram { $0.done(1) })
        let many = NetlinkBuilder.datagram { builder in
            for number in 0..<400 { builder.address(1, [10, 0, UInt8(number / 256), UInt8(number % 256)], 8) }
            builder.done(2)
        }
        guard case .publish(let interfaces) = table.receive(many).first else {
            Issue.record("the table published no list")
            return
        }
        #expect(interfaces.count == InterfaceTable.maximumInterfaces)
        #expect(interfaces[0].addresses.count == InterfaceTable.maximumAddresses)
    }

    @Test("A filter admits all multicast interfaces except loopback, or only the named interfaces")
    func filter() {
        #expect(!InterfaceFilter.multicastCapable.admits(loopback))
        #expect(InterfaceFilter.multicastCapable.admits(ethernet))
        #expect(InterfaceFilter.named(["lo"]).admits(loopback))
        #expect(!InterfaceFilter.named(["lo"]).admits(ethernet))
    }

    @Test("The changes between two lists begin with the removals; the changed and added interfaces follow")
    func changes() {
        var moved = ethernet
        moved.addresses = []
        var flapped = ethernet
        flapped.carrierChanges += 2
        let wireless = LinuxInterface(index: 3, name: "wlan0", flags: [.up])
        #expect(InterfaceChange.changes(from: [loopback], to: [loopback]) == [])
        #expect(
            InterfaceChange.changes(from: [loopback, ethernet], to: [moved, wireless]) == [
                .removed(loopback), .changed(moved, linkWasLost: false), .added(wireless),
            ])
        #expect(InterfaceChange.changes(from: [ethernet], to: [flapped]) == [.changed(flapped, linkWasLost: true)])
    }
}
