/// Names what a programme does, from half minutes: two that agree begin a phase, where the first of them began.
struct PhaseTracker {
    static let blockLength: Int64 = 30_000
    /// More phases than a programme has; the rest belong to the last.
    static let limit = 64
    static let heatingFrom: Int64 = 8_000
    /// A pause this long is a phase of its own.
    static let soakFrom: Int64 = 120_000

    private var phases: [AppliancePhase] = []
    private var block: Block
    private var pending: AppliancePhase.Name?
    private var pendingStart: Int64
    private var pendingPeak: Int32 = 0
    private var lastActive: Int64
    /// The strongest tumbling so far, in tenths of a watt, and whether there was heat or a spin.
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

    /// The phases, the last of them up to a time.
    func all(until end: Int64) -> [AppliancePhase] {
        var all = phases.filter { $0.start < end }
        if let last = all.indices.last { all[last].end = end }
        return all
    }

    /// The phase that the sample makes certain.
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

    /// After a pause the next phase begins with the activity.
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
            // The first of all counts from the programme's beginning.
            if !phases.isEmpty || pending != nil { pendingStart = block.start }
            return nil
        }
        // The weaker of two: one of them may hold the last moment of the heat.
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

    /// Nil for a half minute that tells nothing: a hole, or quiet.
    private func name(of block: Block) -> AppliancePhase.Name? {
        guard block.covered >= Self.blockLength / 2, block.active > 0 else { return nil }
        // A moment of rest, or the start of a motor, leaves it steady.
        let isSteady = block.active * 20 >= block.covered * 17 && block.mean * 5 >= Int64(block.greatest) * 3
        if block.mean >= Self.heatingFrom { return .heating }
        if isSteady {
            if tumblingPeak == 0 { return .running }
            // As strong as a third of the tumbling: a pump that drains is weaker.
            return block.mean * 3 >= Int64(tumblingPeak) ? .spinning : .running
        }
        let isSparse = block.active * 10 < block.covered * 3
        let isWeak = block.greatest * 5 < tumblingPeak * 3 && block.active * 10 < block.covered * 7
        return (wasHot && isSparse) || (hasSpun && isWeak) ? .antiCrease : .tumbling
    }
}
