/// Simulated household appliances, with the power and the durations of common machines. Each seed is a different
/// machine of the model.
public enum ApplianceModel: String, CaseIterable, Sendable {
    case washingMachine = "washing machine"
    /// Draws the power of a pause for up to 40 minutes after its programme, before it turns itself off.
    case lingeringWashingMachine = "washing machine that stays on"
    /// Draws the same power during soaking as between cycles, so only the duration distinguishes the two.
    case sleepyWashingMachine = "washing machine that sleeps while it soaks"
    /// Draws the same power in all pauses as between cycles.
    case constantWashingMachine = "washing machine that never turns off"
    /// Gets a second load within 20 minutes after every fourth one. The two count as one cycle.
    case reloadedWashingMachine = "washing machine with second loads"
    /// Washes without heating, and has 300 W only for a moment.
    case coldWashingMachine = "washing machine that washes cold"
    case dishwasher
    /// Dries for up to 19.8 minutes, ends with or without a run of the pump, and draws a different power after each
    /// cycle.
    case dryingDishwasher = "dishwasher with long drying"
    /// Draws the same power in all pauses as between cycles.
    case constantDishwasher = "dishwasher that never turns off"
    case dryer
    case refrigerator
    /// Runs for 35 to 137 minutes.
    case irregularRefrigerator = "refrigerator with irregular runs"
    /// A refrigerator and a freezer on the same plug.
    case twoCompressors = "two compressors"
    case television
    case kettle
    case laptop
    case waterFountain = "water fountain"

    /// True if the appliance has no cycles.
    public var hasNoCycles: Bool { [.television, .kettle, .laptop, .waterFountain].contains(self) }

    /// True if the cycles are runs of a compressor.
    public var isCompressor: Bool { [.refrigerator, .irregularRefrigerator, .twoCompressors].contains(self) }

    /// Returns a script with the samples of a plug over `uses` uses of the appliance, and with the true cycles. A use
    /// of the refrigerator is a run of its compressor; every fifteenth use has a defrosting as a further cycle.
    public func script(uses: Int, seed: UInt64, holesADay: Double = 0) -> PowerScript {
        var script = PowerScript(seed: seed, holesADay: holesADay)
        var machine = SimulatedMachine(&script)
        // One meter in three has coarse steps, as those of the recordings.
        script.resolution = script.chance(0.33) ? 2.1 : 0.2
        if isCompressor { machine.standby = 0 }
        if self == .constantWashingMachine || self == .constantDishwasher { machine.standby = machine.rest }
        script.hold(machine.standby, for: script.draw(600...7_200))
        if self == .twoCompressors {
            script.coolTwice(machine, uses: uses)
            return script
        }
        for use in 0..<uses {
            add(use, of: &machine, to: &script)
            if !isCompressor { script.hold(machine.standby, for: script.draw(1_500...14_400)) }
        }
        if !isCompressor { script.hold(machine.standby, for: 2_400) }
        return script
    }

    private func add(_ use: Int, of machine: inout SimulatedMachine, to script: inout PowerScript) {
        let used = machine
        switch self {
        case .washingMachine, .constantWashingMachine: script.cycle { $0.wash(used) }
        case .coldWashingMachine: script.cycle { $0.washCold(used) }
        case .sleepyWashingMachine: script.cycle { $0.wash(used, soakingAt: used.standby) }
        case .lingeringWashingMachine:
            script.cycle { $0.wash(used) }
            script.hold(machine.rest, for: script.draw(300...2_400))
        case .reloadedWashingMachine:
            script.cycle {
                $0.wash(used)
                guard use % 4 == 3 else { return }
                $0.endLoad()
                $0.hold(used.standby, for: $0.draw(240...1_150))
                $0.wash(used)
            }
        case .dishwasher, .constantDishwasher: script.cycle { $0.washDishes(used, isSlow: false) }
        case .dryingDishwasher:
            script.cycle { $0.washDishes(used, isSlow: true) }
            machine.standby = script.draw(0.2...2.6)
        case .dryer: script.cycle { $0.dry(used) }
        case .refrigerator: script.cool(used, use)
        case .irregularRefrigerator: script.coolIrregularly(used)
        case .twoCompressors: break
        case .television: script.watch()
        case .kettle: script.hold(2_000, for: script.draw(90...240))
        case .laptop: script.charge(used)
        case .waterFountain: script.pump(used)
        }
    }
}

extension PowerScript {
    fileprivate mutating func watch() {
        hold(139, for: draw(1_200...12_000), noise: 0.1)
        if chance(0.3) { hold(77, for: draw(300...3_000)) }
    }
}
