import PlugModel
internal import ProtocolCore

extension WireCrash {
    init(_ crash: PlugCrash, now: Instant) {
        self.init()
        report = PlugCrash.bounded(crash.report)
        count = UInt32(clamping: crash.count)
        if let at = crash.at { ageMs = UInt64(clamping: (now - at).wholeNanoseconds / 1_000_000) }
    }

    /// Decodes a crash.
    ///
    /// - Parameter now: the time on the receiver's clock.
    func model(now: Instant) -> PlugCrash {
        // An implausible age is treated as unknown.
        let age = hasAgeMs ? Int64(exactly: ageMs).flatMap { $0 < 10_000_000_000_000 ? $0 : nil } : nil
        return PlugCrash(
            report: PlugCrash.bounded(report), count: Int(count), at: age.map { now - .milliseconds($0) })
    }
}
