import PlugModel
internal import ProtocolCore

extension WireCrash {
    init(_ crash: PlugCrash, now: Instant) {
        self.init()
        report = PlugCrash.bounded(crash.report)
        count = UInt32(clamping: crash.count)
        if let at = crash.at { ageMs = UInt64(clamping: (now - at).wholeNanoseconds / 1_000_000) }
    }

    /// - Parameter now: on the clock of whoever reads it.
    func model(now: Instant) -> PlugCrash {
        // A plug that says more than there is time is believed no time at all.
        let age = hasAgeMs ? Int64(exactly: ageMs).flatMap { $0 < 10_000_000_000_000 ? $0 : nil } : nil
        return PlugCrash(
            report: PlugCrash.bounded(report), count: Int(count), at: age.map { now - .milliseconds($0) })
    }
}
