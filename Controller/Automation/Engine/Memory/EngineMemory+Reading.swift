import PlugModel
import ProtocolCore

extension MemoryReader {
    /// Reads an engine's memory that ``MemoryWriter`` wrote.
    ///
    /// - Parameter moved: converts an instant of the writer's boot to the present clock. An unknown elapsed time counts
    ///   as zero. Instants of dwells are on the plugs' clocks and are not converted.
    mutating func engineMemory(moved: (Instant) -> Instant) throws(StateDecodingError) -> EngineMemory {
        var memory = EngineMemory()
        for _ in 0..<(try entries()) {
            let rule = try text()
            var instants: [Instant] = []
            for _ in 0..<(try count(EngineMemory.maximumInstants)) { instants.append(moved(try instant())) }
            memory.fired[rule] = instants
        }
        for _ in 0..<(try entries()) { memory.dwells.append(try dwell()) }
        for _ in 0..<(try entries()) { memory.runs.append(try run(moved)) }
        for _ in 0..<(try entries()) { memory.savedStates.append(try before()) }
        for _ in 0..<(try entries()) { memory.energies.append(try energyMark()) }
        for _ in 0..<(try entries()) {
            let (rule, trigger) = (try text(), try text())
            let number = Int64(bitPattern: try integer())
            memory.occurrences.append(EngineMemory.Occurrence(rule: rule, trigger: trigger, number: number))
        }
        for _ in 0..<(try entries()) { memory.disabled.insert(try text()) }
        if try flag() { memory.judgedUntil = moved(try instant()) }
        return memory
    }

    private mutating func entries() throws(StateDecodingError) -> Int { try count(EngineMemory.maximumEntries) }

    /// Reads a measured value, which must be finite.
    private mutating func number() throws(StateDecodingError) -> Double {
        let value = try double()
        guard value.isFinite else { throw fault("a number") }
        return value
    }

    private mutating func dwell() throws(StateDecodingError) -> EngineMemory.Dwell {
        let (rule, trigger, plug) = (try text(), try text(), try text())
        let boot = try flag() ? BootID(bytes: try take(16)) : nil
        return EngineMemory.Dwell(
            rule: rule, trigger: trigger, plug: plug, boot: boot, since: try instant(), latest: try instant(),
            value: try number())
    }

    private mutating func run(_ moved: (Instant) -> Instant) throws(StateDecodingError) -> EngineMemory.Run {
        let firing = try firing(moved)
        let actions = try text()
        let next: UInt16 = try integer()
        let until = try flag() ? moved(try instant()) : nil
        return EngineMemory.Run(firing: firing, actions: actions, next: Int(next), until: until)
    }

    private mutating func before() throws(StateDecodingError) -> EngineMemory.Before {
        let (plug, rule) = (try text(), try text())
        let firing = try requestID()
        let on = try flag()
        var level: DimLevel?
        if try flag() {
            let permille: UInt16 = try integer()
            level = DimLevel(permille: Int(permille))
            if level == nil { throw fault("a level") }
        }
        return EngineMemory.Before(plug: plug, rule: rule, firing: firing, on: on, level: level)
    }

    private mutating func energyMark() throws(StateDecodingError) -> EngineMemory.EnergyMark {
        let plug = try text()
        let period: UInt8 = try integer()
        let periods = EnergyThreshold.Period.allCases
        guard period < periods.count else { throw fault("a period") }
        let number = Int64(bitPattern: try integer())
        // Earlier versions accepted any counter value and may have stored a larger one.
        let counter = min(try integer(), PlugWire.greatestEnergy)
        var fired: Set<String> = []
        for _ in 0..<(try entries()) { fired.insert(try text()) }
        var known: Set<String> = []
        for _ in 0..<(try entries()) { known.insert(try text()) }
        return EngineMemory.EnergyMark(
            plug: plug, period: periods[Int(period)], number: number, milliwattHours: counter, fired: fired,
            known: known)
    }

    private mutating func firing(_ moved: (Instant) -> Instant) throws(StateDecodingError) -> Firing {
        var firing = try firing()
        firing.time = moved(firing.time)
        firing.cause.since = firing.cause.since.map(moved)
        return firing
    }
}
