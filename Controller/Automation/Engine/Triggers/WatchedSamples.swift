public import ProtocolCore

/// A fast path for replays of recorded samples that only feed an appliance detector.
extension RuleEngine {
    /// Handles samples of a watched plug that arrived at the time of their measurement. Stops before a sample to which
    /// a trigger reacts or at which something is due, and after a sample at which the detector reports an event.
    /// Together with ``hear(_:now:)`` afterwards it is equivalent to ``read(_:activePower:time:now:)`` for each sample,
    /// and faster.
    ///
    /// - Returns: the number of handled samples. The caller passes the next one to ``read(_:activePower:time:now:)``.
    public mutating func watch(_ plug: PlugIndex, _ samples: Span<RecordedPower>) -> Int {
        let index = plug.value
        // Runs that wait for a condition are checked at each reading.
        guard slots[index].meter.isWatched, let watched = slots[index].appliance, waitingFor == 0 else { return 0 }
        let due = nextDeadline ?? Instant(nanoseconds: .max)
        var count = 0
        while count < samples.count {
            let (watts, time) = (samples[count].activePower, samples[count].time)
            guard time < due, slots[index].meter.band.contains(watts, time: time, now: time) else { break }
            slots[index].meter.keep(watts, time: time, now: time)
            appliances[watched].take(deciwatts: max(0, samples[count].deciwatts), time: time, now: time)
            count += 1
            if !appliances[watched].said.isEmpty { break }
        }
        return count
    }

    /// Handles the appliance events of the last sample.
    public mutating func hear(_ plug: PlugIndex, now: Instant) -> [Action] {
        guard let watched = slots[plug.value].appliance, !appliances[watched].said.isEmpty else { return [] }
        var actions: [Action] = []
        begin(now: now, &actions)
        tellSaid(of: watched, plug.value, now: now, &actions)
        finish(now: now, &actions)
        return actions
    }
}
