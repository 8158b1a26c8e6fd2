import DNSWire
@testable import AddressConfiguration
import ProtocolCore

let ownCard = MACAddress(2, 0, 0, 0, 0, 1)
let firstServer = IPv4Address(10, 0, 0, 1)
let secondServer = IPv4Address(10, 0, 0, 2)

/// A DHCP server that offers the same address to every client.
struct FakeServer {
    var address = firstServer
    var gives = IPv4Address(10, 0, 0, 50)
    var seconds: UInt32 = 3600
    /// The message types that the server answers.
    var answers: Set<DHCPMessageType> = [.discover, .request]
    /// True if the server refuses requests but not discoveries.
    var refuses = false
    /// Changes a reply before it is sent.
    var distort: (inout DHCPMessage) -> Void = { _ in }

    func reply(_ type: DHCPMessageType, to message: DHCPMessage) -> DHCPMessage {
        var options = DHCPOptions()
        options.messageType = type
        options.serverIdentifier = address
        if type != .nak {
            options.leaseTime = seconds
            options.subnetMask = IPv4Address(255, 255, 255, 0)
            options.routers = [firstServer]
        }
        var reply = DHCPMessage(
            operation: .reply, transaction: message.transaction, yourAddress: type == .nak ? .any : gives,
            clientHardware: message.clientHardware, options: options)
        distort(&reply)
        return reply
    }

    func answer(_ message: DHCPMessage) -> DHCPMessage? {
        guard let type = message.options.messageType, answers.contains(type) else { return nil }
        if type == .discover { return reply(.offer, to: message) }
        guard type == .request else { return nil }
        let named = message.options.serverIdentifier
        guard named == nil || named == address else { return nil }
        let wanted = message.options.requestedAddress ?? message.clientAddress
        return reply(refuses || wanted != gives ? .nak : .ack, to: message)
    }
}

/// A client on a link with servers, in virtual time.
struct DHCPLab {
    struct Sent {
        let time: Instant
        let message: DHCPMessage
        let destination: IPv4Address

        var type: DHCPMessageType? { message.options.messageType }
    }

    var client: DHCPClient
    var servers: [FakeServer]
    var now = Instant.zero + .seconds(1000)
    private(set) var sent: [Sent] = []
    private(set) var bound: [DHCPLease] = []
    private(set) var checked: [DHCPLease] = []
    private(set) var lost: [AddressingNotice.LeaseEnd] = []
    /// The addresses that other hosts have.
    var taken: Set<IPv4Address> = []
    /// True if the lab answers each check of an address.
    var probes = true

    init(_ servers: FakeServer..., remembered: IPv4Address? = nil, seed: UInt64 = 1) {
        self.servers = servers
        client = DHCPClient(
            configuration: DHCPClient.Configuration(
                hardwareAddress: ownCard, hostName: "plug-012345", clientIdentifier: [255, 1, 2, 3, 4],
                remembered: remembered.map { RememberedLease(address: $0, server: firstServer) }, seed: seed))
    }

    /// Creates a lab whose client obtained a lease at the current time. Its lists of messages and leases are empty.
    static func bound(_ server: FakeServer = FakeServer(), seed: UInt64 = 1) -> DHCPLab {
        var lab = DHCPLab(server, seed: seed)
        lab.send(.linkUp(isPowerOn: false))
        precondition(lab.client.lease != nil, "the client has no lease")
        lab.forget()
        return lab
    }

    mutating func forget() { (sent, bound, checked, lost) = ([], [], [], []) }

    mutating func send(_ event: DHCPClient.Event) {
        var events = [event]
        // An event causes only a few further events. A chain of 50 events is an error.
        var budget = 50
        while !events.isEmpty {
            budget -= 1
            precondition(budget > 0, "\(event) caused more than 50 events")
            for action in client.handle(events.removeFirst(), now: now) {
                switch action {
                case .broadcast(let message): events += transmitted(message, to: .broadcast)
                case .send(let message, let source, let destination):
                    precondition(source == message.clientAddress, "the client sent from \(source)")
                    events += transmitted(message, to: destination)
                case .check(let lease):
                    checked.append(lease)
                    if probes { events.append(taken.contains(lease.address) ? .addressInConflict : .addressChecked) }
                case .bound(let lease): bound.append(lease)
                case .lost(let end): lost.append(end)
                }
            }
        }
    }

    private mutating func transmitted(_ message: DHCPMessage, to destination: IPv4Address) -> [DHCPClient.Event] {
        sent.append(Sent(time: now, message: message, destination: destination))
        let hearing = servers.filter { destination == .broadcast || destination == $0.address }
        return hearing.compactMap { server in
            server.answer(message).map { .received($0, from: server.address) }
        }
    }

    /// Advances the time to the next deadline.
    mutating func advance() {
        guard let deadline = client.nextDeadline else { return }
        now = max(now, deadline)
        send(.deadlineReached)
    }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while let deadline = client.nextDeadline, deadline <= end {
            precondition(sent.count < 100_000, "the client sent 100,000 messages")
            advance()
        }
        now = end
    }

    var types: [DHCPMessageType?] { sent.map(\.type) }

    /// Delivers a message to the client as if it came from the second server.
    mutating func receive(_ message: DHCPMessage) { send(.received(message, from: secondServer)) }
}
