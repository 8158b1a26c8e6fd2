import PlugProtocol
import ProtocolCore

extension MemoryReader {
    /// Reads what ``MemoryWriter`` put.
    ///
    /// - Parameter moved: an instant of the writer's boot on the present clock; where nobody knows how long ago it was, now. Instants
    ///   of dwells are on plugs' clocks and stay.
    mutating func engineMemory(moved: (Instant) -> Instant) throws(MemoryFault) -> EngineMemory {
        var memory = EngineMemory()
        for _ in 0..<(try entries()) {
            let rule = try text()
            var instants: [Instant] = []
            for _ in 0..<(try count(EngineMemory.maximumInstants)) { instants.append(moved(try instant())) }
            memory.fired[rule] = instants
        }
        for _ in 0..<(try entries()) { memory.dwells.append(try dwell()) }
        for _ in 0..<(try entries()) { memory.runs.append(try run(moved)) }
        for _ in 0..<(try entries()) { memory.befores.append(try before()) }
        for _ in 0..<(try entries()) { memory.energies.append(try energyMark()) }
        for _ in 0..<(try entries()) {
            let (rule, trigger) = (try text(), try text())
            let number = Int64(bitPattern: try integer())
            memory.occurrences.append(EngineMemory.Occurrence(rule: rule, trigger: trigger, number: number))
        }
        for _ in 0..<(try entries()) { memory.disabled.insert(try text()) }
        if try isThere() { memory.judgedUntil = moved(try instant()) }
        return memory
    }

    private mutating func entries() throws(MemoryFault) -> Int { try count(EngineMemory.maximumEntries) }

    /// A flag ahead of a value, or of a truth.
    private mutating func isThere() throws(MemoryFault) -> Bool {
        let byte: UInt8 = try integer()
        guard byte <= 1 else { throw fault("a flag") }
        return byte == 1
    }

    /// A measured value: what is no number, or without end, was none.
    private mutating func number() throws(MemoryFault) -> Double {
        let value = try double()
        guard value.isFinite else { throw fault("a number") }
        return value
    }

    private mutating func firingID() throws(MemoryFault) -> RequestID {
        guard let id = RequestID(bytes: try take(16)) else { preconditionFailure("16 bytes were taken") }
        return id
    }

    private mutating func dwell() throws(MemoryFault) -> EngineMemory.Dwell {
        let (rule, trigger, plug) = (try text(), try text(), try text())
        let boot = try isThere() ? BootID(bytes: try take(16)) : nil
        return EngineMemory.Dwell(
            rule: rule, trigger: trigger, plug: plug, boot: boot, since: try instant(), latest: try instant(),
            value: try number())
    }

    private mutating func run(_ moved: (Instant) -> Instant) throws(MemoryFault) -> EngineMemory.Run {
        let firing = try firing(moved)
        let actions = try text()
        let next: UInt16 = try integer()
        let until = try isThere() ? moved(try instant()) : nil
        return EngineMemory.Run(firing: firing, actions: actions, next: Int(next), until: until)
    }

    private mutating func before() throws(MemoryFault) -> EngineMemory.Before {
        let (plug, rule) = (try text(), try text())
        let firing = try firingID()
        let on = try isThere()
        var level: DimLevel?
        if try isThere() {
            let permille: UInt16 = try integer()
            level = DimLevel(permille: Int(permille))
            if level == nil { throw fault("a level") }
        }
        return EngineMemory.Before(plug: plug, rule: rule, firing: firing, on: on, level: level)
    }

    private mutating func energyMark() throws(MemoryFault) -> EngineMemory.EnergyMark {
        let plug = try text()
        let period: UInt8 = try integer()
        let periods = EnergyThreshold.Period.allCases
        guard period < periods.count else { throw fault("a period") }
        let number = Int64(bitPattern: try integer())
        let counter: UInt64 = try integer()
        var fired: Set<String> = []
        for _ in 0..<(try entries()) { fired.insert(try text()) }
        return EngineMemory.EnergyMark(
            plug: plug, period: periods[Int(period)], number: number, milliwattHours: counter, fired: fired)
    }

    private mutating func firing(_ moved: (Instant) -> Instant) throws(MemoryFault) -> Firing {
        let id = try firingID()
        let (rule, words) = (try text(), try text())
        var cause = Firing.Cause(.told(words))
        if try isThere() { cause.plug = try text() }
        if try isThere() { cause.value = try number() }
        cause.event = try cursor()
        if try isThere() { cause.age = .nanoseconds(Int64(bitPattern: try integer())) }
        if try isThere() { cause.since = moved(try instant()) }
        var firing = Firing(id: id, rule: rule, cause: cause, time: moved(try instant()))
        for _ in 0..<(try entries()) { firing.judged.append(try isThere()) }
        return firing
    }
}
