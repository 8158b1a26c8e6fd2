public import MatterSessions
import MatterWire
public import ProtocolCore

/// A simulated house in virtual time: a plug and several Matter controllers on a link that loses, duplicates, delays and
/// reorders datagrams. Equal seeds give equal runs.
public struct SimulatedMatterHouse: Sendable {
    /// The address of the plug.
    public static let plugAddress = MatterPeer(
        address: [0xFE, 0x80] + Array(repeating: 0, count: 13) + [1], scope: 2, port: 5540)
    /// The number of steps after which a run ends, so that a fault cannot make it endless.
    private static let stepLimit = 2_000_000
    /// The number of steps at one time after which a deadline counts as stuck.
    private static let stepsAtOnce = 20_000

    /// A message counter with everything that selects its key.
    private struct Nonce: Hashable {
        var start: Int
        var peer: MatterPeer
        var sessionID: UInt16
        var counter: UInt32
    }

    /// The plug.
    public var plug: SimulatedMatterPlug
    /// The controllers.
    public private(set) var controllers: [MatterController] = []
    /// The current time.
    public private(set) var now = Instant.zero + .seconds(100)
    /// The seed of the run.
    public let seed: UInt64
    /// The values that all controllers of the house share.
    public let setup: MatterSetup
    /// The number of datagrams that the plug sent to peers that are not controllers of the house.
    public private(set) var datagramsToStrangers = 0
    /// The number of messages of the plug whose nonce was already used for different bytes.
    public private(set) var repeatedNonces = 0
    /// True if a deadline of the plug or of a controller is due again and again at one time.
    public private(set) var isStuck = false
    private var link: MatterLink
    private var nonces: [Nonce: [UInt8]] = [:]
    private var stepsNow = 0

    /// Creates a house with a started plug and an open commissioning window of 15 minutes.
    public init(
        seed: UInt64, faults: MatterLinkFaults = .none, flash: MatterFlash = MatterFlash(), opensWindow: Bool = true
    ) throws {
        self.seed = seed
        setup = try MatterSetup(seed: seed)
        link = MatterLink(faults, random: SeededRandom(seed: seed &* 3 &+ 1))
        plug = SimulatedMatterPlug(setup, flash: flash, seed: seed, now: now)
        if opensWindow { openWindow() }
    }

    /// The faults of the link.
    public var faults: MatterLinkFaults {
        get { link.faults }
        set { link.faults = newValue }
    }

    /// The number of datagrams that were sent.
    public var datagrams: Int { link.sent }

    /// The address of a controller.
    public static func address(of controller: Int) -> MatterPeer {
        let low = [UInt8(truncatingIfNeeded: (controller + 2) >> 8), UInt8(truncatingIfNeeded: controller + 2)]
        return MatterPeer(address: [0xFE, 0x80] + Array(repeating: 0, count: 12) + low, scope: 2, port: 5540)
    }

    /// Adds a controller with its own node id in the fabric of `issuer`, and returns its index.
    public mutating func add(
        _ issuer: MatterCertificateIssuer, node: UInt64? = nil, tags: [UInt32] = [], deviceNode: UInt64 = 0x1000
    ) throws -> Int {
        let index = controllers.count
        controllers.append(
            try MatterController(
                issuer, node: node ?? UInt64(0xB000 + index), tags: tags, device: Self.plugAddress,
                deviceNode: deviceNode, seed: seed, cryptography: setup.cryptography))
        return index
    }

    /// Adds a controller in its own fabric, and returns its index.
    public mutating func addFabric() throws -> Int {
        let number = UInt64(controllers.count + 1)
        return try add(MatterCertificateIssuer(fabric: number, seed: seed))
    }

    /// Opens the commissioning window of the plug with the code on its label.
    public mutating func openWindow(_ length: Duration = .seconds(900)) {
        plug.handle(.opened(length), now: now)
        collect()
    }

    /// Changes a controller.
    public mutating func change(_ controller: Int, _ body: (inout MatterController, Instant) -> Void) {
        body(&controllers[controller], now)
        collect()
    }

    /// Changes the plug.
    public mutating func changePlug(_ body: (inout SimulatedMatterPlug, Instant) -> Void) {
        body(&plug, now)
        collect()
    }

    /// Restarts the plug with the records in flash.
    public mutating func restartPlug() throws {
        link.clear()
        try plug.start(now: now)
        collect()
    }

    // MARK: Requests

    /// Starts a request of a controller.
    public mutating func begin(_ controller: Int, _ request: MatterControllerRequest) -> MatterTicket {
        let ticket = controllers[controller].begin(request, now: now)
        collect()
        return ticket
    }

    /// Runs until the request of a controller is finished. Throws its ``MatterControllerFault``.
    @discardableResult
    public mutating func finish(_ controller: Int, _ ticket: MatterTicket) throws -> MatterOutcome {
        for _ in 0..<Self.stepLimit {
            if let result = controllers[controller].takeOutcome(of: ticket) { return try result.get() }
            guard step(until: .init(nanoseconds: .max)) else { break }
        }
        throw MatterControllerFault.unanswered
    }

    /// Starts a request and runs until it is finished.
    @discardableResult
    public mutating func perform(_ controller: Int, _ request: MatterControllerRequest) throws -> MatterOutcome {
        try finish(controller, begin(controller, request))
    }

    // MARK: Time

    /// Advances the time.
    public mutating func run(_ time: Duration) {
        let end = now + time
        for _ in 0..<Self.stepLimit where !step(until: end) { break }
        now = max(now, end)
    }

    /// Delivers a datagram of a peer that is not a controller of the house to the plug at once.
    public mutating func inject(_ bytes: [UInt8], from peer: MatterPeer) {
        plug.handle(.received(bytes, from: peer), now: now)
        collect()
    }

    /// Handles the next datagram or deadline. Returns false if nothing happens until `end`.
    private mutating func step(until end: Instant) -> Bool {
        let deadlines = controllers.map(\.nextDeadline) + [plug.nextDeadline, link.next]
        guard let next = deadlines.compactMap({ $0 }).min(), next <= end else { return false }
        stepsNow = next > now ? 0 : stepsNow + 1
        isStuck = isStuck || stepsNow > Self.stepsAtOnce
        guard !isStuck else { return false }
        now = max(now, next)
        if let datagram = link.receive(now: now) {
            deliver(datagram)
        } else if let deadline = plug.nextDeadline, deadline <= now {
            plug.expire(now: now)
        } else if let index = controllers.firstIndex(where: { ($0.nextDeadline ?? end + .seconds(1)) <= now }) {
            controllers[index].expire(now: now)
        }
        collect()
        return true
    }

    private mutating func deliver(_ datagram: MatterLink.Datagram) {
        if datagram.to == Self.plugAddress {
            return plug.handle(.received(datagram.bytes, from: datagram.from), now: now)
        }
        guard let index = controllers.indices.first(where: { Self.address(of: $0) == datagram.to }) else {
            datagramsToStrangers += 1
            return
        }
        controllers[index].receive(datagram.bytes, from: datagram.from, now: now)
    }

    /// Passes the new datagrams of all machines to the link.
    private mutating func collect() {
        for (bytes, peer) in plug.takeOutput() {
            recordNonce(of: bytes, to: peer)
            link.send(.init(bytes: bytes, from: Self.plugAddress, to: peer), now: now)
        }
        for index in controllers.indices {
            for datagram in controllers[index].takeOutput() {
                link.send(.init(bytes: datagram.bytes, from: Self.address(of: index), to: datagram.to), now: now)
            }
        }
    }

    private mutating func recordNonce(of bytes: [UInt8], to peer: MatterPeer) {
        guard let (header, _, _) = try? MessageHeader.decode(bytes) else { return }
        let nonce = Nonce(start: plug.starts, peer: peer, sessionID: header.sessionID, counter: header.counter)
        // A retransmission repeats the bytes, too.
        if let known = nonces.updateValue(bytes, forKey: nonce), known != bytes { repeatedNonces += 1 }
    }
}
