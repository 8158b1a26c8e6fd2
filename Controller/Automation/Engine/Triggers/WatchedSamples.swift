public import ProtocolCore

/// For recorded time: samples that teach what an appliance does and mean nothing else.
extension RuleEngine {
    /// Takes samples of a watched plug, heard when they were taken, up to the first of which the appliance says something, that a
    /// trigger minds, or that comes when something is due. With ``hear(_:now:)`` after them it is the same as
    /// ``read(_:activePower:time:now:)`` of each, and faster.
    ///
    /// - Returns: how many were taken; the next one is to be read.
    public mutating func watch(_ plug: PlugIndex, _ samples: Span<RecordedPower>) -> Int {
        let index = plug.value
        // Runs that wait for a condition are looked at with each reading.
        guard meters[index].isWatched, let watched = senseOf[index], waitingFor == 0 else { return 0 }
        let due = nextDeadline ?? Instant(nanoseconds: .max)
        var count = 0
        while count < samples.count {
            let (watts, time) = (samples[count].activePower, samples[count].time)
            guard time < due, meters[index].band.contains(watts, time: time, now: time) else { break }
            meters[index].keep(watts, time: time, now: time)
            appliances[watched].take(deciwatts: max(0, samples[count].deciwatts), time: time, now: time)
            count += 1
            if !appliances[watched].said.isEmpty { break }
        }
        return count
    }

    /// What comes of what the appliance said last.
    public mutating func hear(_ plug: PlugIndex, now: Instant) -> [Action] {
        guard let watched = senseOf[plug.value], !appliances[watched].said.isEmpty else { return [] }
        var actions: [Action] = []
        begin(now: now, &actions)
        tellSaid(of: watched, plug.value, now: now, &actions)
        finish(now: now, &actions)
        return actions
    }
}
