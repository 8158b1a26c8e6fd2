import ProtocolCore

/// The part of an allowance that an address, or all strangers together, currently use.
struct AllowanceUsage: Hashable, Sendable {
    var allowance: AdmissionLimits.Allowance {
        didSet { bucket = TokenBucket(burst: allowance.burst, interval: allowance.interval) }
    }
    private(set) var handshakes = 0
    private(set) var connections = 0
    private var bucket: TokenBucket

    init(_ allowance: AdmissionLimits.Allowance) {
        self.allowance = allowance
        bucket = TokenBucket(burst: allowance.burst, interval: allowance.interval)
    }

    func hasRoom(at now: Instant) -> Bool {
        handshakes < allowance.handshakes && connections < allowance.connections && bucket.available() <= now
    }

    /// Returns true if no connection is counted and the bucket is full. The value then equals a new one and can be
    /// discarded.
    func isUntouched(at now: Instant) -> Bool { connections == 0 && bucket.isFull(at: now) }

    mutating func begin(now: Instant) {
        handshakes += 1
        connections += 1
        bucket.spend(now: now)
    }

    mutating func finishHandshake() { handshakes -= 1 }

    mutating func end(inHandshake: Bool) {
        connections -= 1
        if inHandshake { handshakes -= 1 }
    }
}
