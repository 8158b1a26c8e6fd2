import PlugModel
internal import ProtocolCore

extension WireSleeper {
    init(_ sleeper: PlugSleeper) {
        self.init()
        host = Self.shortened(sleeper.host)
        hardwareAddress = sleeper.card
        addresses = Array(sleeper.addresses.prefix(PlugSleeper.addressLimit))
        if let since = sleeper.asleepSince { asleepSince = WireScalar.nanoseconds(since) }
        sleptSeconds = UInt64(min(max(0, sleeper.sleptSeconds), WireScalar.longestSleep))
        sleeps = sleeper.sleeps
        wakes = PlugSleeper.WakeCause.allCases.compactMap { cause in
            sleeper.wakes[cause].map { WireWakeCount(cause, $0) }
        }
        if let cause = sleeper.lastCause { lastCause = WireWakeCause(cause) }
    }

    /// Decodes a sleeper. Causes of later versions are left out.
    func model() throws(MessageFault) -> PlugSleeper {
        try Self.check(host, "host", PlugSleeper.longestHost)
        try Self.check(hardwareAddress, "hardware_address", PlugSleeper.longestCard)
        guard addresses.count <= PlugSleeper.addressLimit else {
            throw .outOfRange(
                field: "addresses", value: Int64(addresses.count), allowed: 0...Int64(PlugSleeper.addressLimit))
        }
        for address in addresses { try Self.check(address, "addresses", PlugSleeper.longestAddress) }
        var counts: [PlugSleeper.WakeCause: UInt32] = [:]
        for wake in wakes { if let cause = wake.cause.model { counts[cause] = wake.count } }
        return PlugSleeper(
            host: host, card: hardwareAddress, addresses: addresses,
            asleepSince: hasAsleepSince ? try WireScalar.instant(asleepSince, "asleep_since") : nil,
            sleptSeconds: try WireScalar.sleptSeconds(sleptSeconds), sleeps: sleeps, wakes: counts,
            lastCause: lastCause.model)
    }

    private static func check(_ text: String, _ field: String, _ limit: Int) throws(MessageFault) {
        let bytes = text.utf8.count
        guard bytes <= limit else { throw .length(field: field, bytes: bytes, allowed: 0...limit) }
    }

    /// Cuts a host name that is too long. The escapes of a DNS name can make its text longer than the name.
    private static func shortened(_ host: String) -> String {
        var host = host
        while host.utf8.count > PlugSleeper.longestHost { host.unicodeScalars.removeLast() }
        return host
    }
}

extension WireWakeCount {
    init(_ cause: PlugSleeper.WakeCause, _ count: UInt32) {
        self.init()
        self.cause = WireWakeCause(cause)
        self.count = count
    }
}

extension WireWakeCause {
    init(_ cause: PlugSleeper.WakeCause) {
        switch cause {
        case .connection: self = .connection
        case .datagram: self = .datagram
        case .addressConflict: self = .addressConflict
        case .nameConflict: self = .nameConflict
        case .betterProxy: self = .betterProxy
        case .leaseEnd: self = .leaseEnd
        }
    }

    /// The cause, or nil if it is missing or of a later version.
    var model: PlugSleeper.WakeCause? {
        switch self {
        case .connection: .connection
        case .datagram: .datagram
        case .addressConflict: .addressConflict
        case .nameConflict: .nameConflict
        case .betterProxy: .betterProxy
        case .leaseEnd: .leaseEnd
        case .unspecified, .UNRECOGNIZED: nil
        }
    }
}
