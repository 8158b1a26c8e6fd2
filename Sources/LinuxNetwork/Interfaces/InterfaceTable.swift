/// The kernel's table of interfaces, as a machine: netlink datagrams are its events; requests and lists are its
/// actions.
///
/// The table requests all links, then all addresses, and then follows the notifications. If it may have missed a change
/// (lost messages, a dump during which the table changed, an unreadable datagram), it requests everything again. The
/// last published list remains valid until the new one is complete.
package struct InterfaceTable {
    /// The actions of the table.
    package enum Action: Hashable {
        case send([UInt8])
        /// Publishes the interfaces, sorted by index. Only lists that differ from the previous one are published.
        case publish([LinuxInterface])
        /// The kernel refuses to list the interfaces; a retry would not help.
        case fail(code: Int32)
    }

    private enum State: Hashable {
        case idle
        case listingLinks(sequence: UInt32)
        case listingAddresses(sequence: UInt32)
        case following
    }

    /// The limits of links, and of addresses per link; further ones are ignored. They stop a runaway script on the host
    /// from filling the memory. A container host has hundreds of links.
    static let maximumInterfaces = 4096
    static let maximumAddresses = 256

    private var state = State.idle
    private var sequence: UInt32 = 0
    private var interfaces: [Int32: LinuxInterface] = [:]
    private var published: [LinuxInterface]?
    /// True if a change may have been missed during a dump. The kernel refuses a second request before the first is
    /// answered (EBUSY), so the next request waits for the end of this dump.
    private var isDoubtful = false
    /// The number of consecutive repeated dumps. At the limit a dump is accepted although a change may have been
    /// missed. Otherwise links that change constantly would cause endless requests.
    private var repetitions = 0
    static let maximumRepetitions = 8

    /// Creates an empty table.
    package init() {}

    /// Requests the complete table. The shell must call this method for each new socket, because the kernel may have
    /// reported changes before the socket existed.
    package mutating func synchronize() -> [Action] {
        interfaces = [:]
        isDoubtful = false
        sequence &+= 1
        state = .listingLinks(sequence: sequence)
        return [.send(Netlink.dumpRequest(type: Netlink.getLink, sequence: sequence))]
    }

    /// Handles a netlink datagram.
    package mutating func receive(_ datagram: [UInt8]) -> [Action] {
        let messages: [NetlinkMessage]
        do throws(NetlinkError) {
            messages = try parseNetlink(datagram)
        } catch {
            // The unreadable datagram may have contained a change.
            return doubt()
        }
        var actions: [Action] = []
        for message in messages { actions += handle(message) }
        if state == .following { actions += publishIfChanged() }
        return actions
    }

    private mutating func handle(_ message: NetlinkMessage) -> [Action] {
        if message.isInterruptedDump, isListing(message.sequence) { isDoubtful = true }
        switch message.body {
        case .link(let link): update(link)
        case .linkRemoved(let index): interfaces[index] = nil
        case .address(let index, let address): update(index, address)
        case .addressRemoved(let index, let address):
            interfaces[index]?.addresses.removeAll {
                $0.bytes == address.bytes && $0.prefixLength == address.prefixLength
            }
        case .done: return finish(message.sequence)
        case .refused(let code): return isListing(message.sequence) && code != 0 ? [.fail(code: code)] : []
        case .overrun: return doubt()
        case .route, .neighbour, .other: break
        }
        return []
    }

    private mutating func doubt() -> [Action] {
        switch state {
        case .idle: return []
        case .listingLinks, .listingAddresses:
            isDoubtful = true
            return []
        case .following: return synchronize()
        }
    }

    private func isListing(_ sequence: UInt32) -> Bool {
        switch state {
        case .listingLinks(let expected), .listingAddresses(let expected): expected == sequence
        case .idle, .following: false
        }
    }

    private mutating func finish(_ finished: UInt32) -> [Action] {
        guard isListing(finished) else { return [] }
        if isDoubtful, repetitions < Self.maximumRepetitions {
            repetitions += 1
            return synchronize()
        }
        switch state {
        case .listingLinks:
            sequence &+= 1
            state = .listingAddresses(sequence: sequence)
            return [.send(Netlink.dumpRequest(type: Netlink.getAddress, sequence: sequence))]
        case .listingAddresses:
            repetitions = 0
            state = .following
            return []
        case .idle, .following: return []
        }
    }

    private mutating func update(_ link: LinkDescription) {
        if var known = interfaces[link.index] {
            known.flags = link.flags
            known.name = link.name ?? known.name
            known.hardwareAddress = link.hardwareAddress ?? known.hardwareAddress
            known.carrierChanges = link.carrierChanges ?? known.carrierChanges
            interfaces[link.index] = known
        } else if let name = link.name, interfaces.count < Self.maximumInterfaces {
            interfaces[link.index] = LinuxInterface(
                index: link.index, name: name, flags: link.flags, hardwareAddress: link.hardwareAddress ?? [],
                carrierChanges: link.carrierChanges ?? 0)
        }
    }

    private mutating func update(_ index: Int32, _ address: LinuxAddress) {
        guard var interface = interfaces[index] else { return }
        interface.addresses.removeAll { $0.bytes == address.bytes && $0.prefixLength == address.prefixLength }
        guard interface.addresses.count < Self.maximumAddresses else { return }
        interface.addresses.append(address)
        interface.addresses.sort()
        interfaces[index] = interface
    }

    private mutating func publishIfChanged() -> [Action] {
        let list = interfaces.values.sorted { $0.index < $1.index }
        guard list != published else { return [] }
        published = list
        return [.publish(list)]
    }
}
