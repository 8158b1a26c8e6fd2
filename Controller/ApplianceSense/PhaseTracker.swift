/// Names the phases of a programme from blocks of 30 s. Two consecutive blocks with the same name start a phase, at the
/// start of the first block.
struct PhaseTracker {
    static let blockLength: Int64 = 30_000
    /// The maximum number of phases. After that many, the last phase continues to the end of the programme.
    static let limit = 64
    static let heatingFrom: Int64 = 8_000
    /// Milliseconds. A pause of this length is a phase.
    static let soakFrom: Int64 = 120_000

    private var phases: [AppliancePhase] = []
    private var block: Block
    private var pending: AppliancePhase.Name?
    private var pendingStart: Int64
    private var pendingPeak: Int32 = 0
    private var lastActive: Int64
    /// The greatest power of tumbling so far, in tenths of a watt, and flags for observed heating and spinning.
    private var tumblingPeak: Int32 = 0
    private var wasHot = false
    private var hasSpun = false

    private struct Block {
        var start: Int64
        var energy: Int64 = 0
        var covered: Int64 = 0
        var active: Int64 = 0
        var least: Int32 = .max
        var greatest: Int32 = 0

        var mean: Int64 { covered > 0 ? energy / covered : 0 }
    }

    init(start: Int64) {
        block = Block(start: start)
        pendingStart = start
        lastActive = start
    }

    var current: AppliancePhase? { phases.last }

    /// True if a drum has spun or turns against creases. Laundry is not left to soak after that.
    var isWound: Bool { current?.name == .antiCrease || phases.contains { $0.name == .spinning } }

    /// Returns the phases that begin before `end`. The last phase ends at `end`.
    func all(until end: Int64) -> [AppliancePhase] {
        var all = phases.filter { $0.start < end }
        if let last = all.indices.last { all[last].end = end }
        return all
    }

    /// Adds a sample. Returns a phase if this sample completes the evidence for it; usually nil.
    mutating func add(_ step: PowerStep, isActive: Bool) -> AppliancePhase? {
        var found: AppliancePhase?
        if isActive {
            if step.time - lastActive >= Self.soakFrom {
                found = begin(.soak, at: lastActive)
                restart(at: step.time)
            }
            lastActive = step.time
        }
        if step.time - block.start >= Self.blockLength {
            if let named = close(at: step.time) { found = named }
            block = Block(start: step.time)
        }
        block.energy += step.energy
        block.covered += step.covered
        block.least = min(block.least, step.power)
        block.greatest = max(block.greatest, step.power)
        if isActive { block.active += step.covered }
        return found
    }

    /// Starts a new block after a pause, so that the next phase starts with the activity.
    private mutating func restart(at time: Int64) {
        block = Block(start: time)
        pending = nil
        pendingStart = time
    }

    private mutating func close(at time: Int64) -> AppliancePhase? {
        guard let name = name(of: block) else {
            pending = nil
            return nil
        }
        defer { (pending, pendingPeak) = (name, block.greatest) }
        if name != pending {
            // The first phase starts with the programme.
            if !phases.isEmpty || pending != nil { pendingStart = block.start }
            return nil
        }
        // Uses the lower peak of the two blocks, because one block may contain the end of heating.
        if name == .tumbling { tumblingPeak = max(tumblingPeak, min(block.greatest, pendingPeak)) }
        wasHot = wasHot || name == .heating
        hasSpun = hasSpun || name == .spinning
        guard name != phases.last?.name else { return nil }
        return begin(name, at: pendingStart)
    }

    private mutating func begin(_ name: AppliancePhase.Name, at start: Int64) -> AppliancePhase? {
        guard phases.count < Self.limit else { return nil }
        if let last = phases.indices.last { phases[last].end = start }
        let phase = AppliancePhase(name: name, start: start, end: start)
        phases.append(phase)
        return phase
    }

    /// Returns nil for a block with a gap or without activity.
    private func name(of block: Block) -> AppliancePhase.Name? {
        guard block.covered >= Self.blockLength / 2, block.active > 0 else { return nil }
        // A short rest, or the start of a motor, still counts as steady.
        let isSteady = block.active * 20 >= block.covered * 17 && block.mean * 5 >= Int64(block.greatest) * 3
        if block.mean >= Self.heatingFrom { return .heating }
        if isSteady {
            if tumblingPeak == 0 { return .running }
            // Spinning has at least a third of the peak power of tumbling. A drain pump has less.
            return block.mean * 3 >= Int64(tumblingPeak) ? .spinning : .running
        }
        let isSparse = block.active * 10 < block.covered * 3
        let isWeak = block.greatest * 5 < tumblingPeak * 3 && block.active * 10 < block.covered * 7
        return (wasHot && isSparse) || (hasSpun && isWeak) ? .antiCrease : .tumbling
    }
}
