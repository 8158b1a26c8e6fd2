/// Simulated household appliances, with the power and the durations of common machines.
public enum ApplianceModel: String, CaseIterable, Sendable {
    case washingMachine = "washing machine"
    /// Draws 3.2 W for ten minutes after its programme, before it turns itself off.
    case lingeringWashingMachine = "washing machine that stays on"
    /// Draws the same power during soaking as between cycles, so only the duration distinguishes the two.
    case sleepyWashingMachine = "washing machine that sleeps while it soaks"
    case dishwasher
    case dryer
    case refrigerator
    case television
    case kettle

    /// Returns a script with the samples of a plug over `uses` uses of the appliance, and with the true cycles. A use
    /// of the refrigerator is a run of its compressor; every fifteenth use has a defrosting as a further cycle.
    public func script(uses: Int, seed: UInt64, holesADay: Double = 0) -> PowerScript {
        var script = PowerScript(seed: seed, holesADay: holesADay)
        let standby = self == .refrigerator ? 0 : script.draw(0.2...1.0)
        script.hold(standby, for: script.draw(600...7_200))
        for use in 0..<uses {
            switch self {
            case .washingMachine: script.cycle { $0.wash() }
            case .sleepyWashingMachine: script.cycle { $0.wash(soakingAt: standby) }
            case .lingeringWashingMachine:
                script.cycle { $0.wash() }
                script.hold(3.2, for: 600)
            case .dishwasher: script.cycle { $0.washDishes() }
            case .dryer: script.cycle { $0.dry() }
            case .refrigerator: script.cool(use)
            case .television: script.watch()
            case .kettle: script.boil()
            }
            if self != .refrigerator { script.hold(standby, for: script.draw(1_500...14_400)) }
        }
        if self != .refrigerator { script.hold(standby, for: 2_400) }
        return script
    }
}

extension PowerScript {
    /// Adds a wash: the machine fills, tumbles, heats, perhaps soaks, rinses with spins in between, spins, and perhaps
    /// tumbles against creases.
    fileprivate mutating func wash(soakingAt soak: Double = 3) {
        let motor = draw(150...250)
        let minutes = chance(0.3) ? 0.5 : 1.0
        hold(12, for: 40)
        turn(motor, for: 5...12, rest: 3.4, for: 6...14, during: draw(240...480))
        hold(2_050, for: draw(300...1_100) * minutes)
        turn(motor, for: 5...12, rest: 3.4, for: 6...14, during: draw(400...2_400) * minutes)
        if chance(0.15) {
            hold(soak, for: draw(300...1_150))
            turn(motor, for: 5...12, rest: 3.4, for: 6...14, during: 300)
        }
        for _ in 0..<3 {
            spin(from: motor, for: draw(60...150))
            // The drum stops, the water drains and flows in again.
            hold(3.2, for: draw(20...200))
            turn(motor, for: 5...12, rest: 3.4, for: 6...14, during: draw(200...500))
        }
        spin(from: motor, for: draw(200...480))
        guard chance(0.4) else { return }
        hold(3.2, for: draw(15...40))
        turn(90, for: 3...6, rest: 3.2, for: 12...60, during: draw(180...1_200))
    }

    private mutating func spin(from motor: Double, for seconds: Double) {
        hold(motor * 0.8, for: seconds / 2)
        hold(motor * 1.6, for: seconds / 2)
        // A spin ends with 40 W, because a rest at the end would not belong to the cycle.
        hold(40, for: 4)
    }

    /// Adds a run of the dishwasher: it rinses, washes hot, rinses again and dries without heating. The cycle ends with
    /// a run of the drain pump.
    fileprivate mutating func washDishes() {
        hold(70, for: draw(300...700))
        hold(2.6, for: draw(20...60))
        hold(2_100, for: draw(500...1_200))
        for _ in 0..<Int(draw(2...5)) {
            hold(75, for: draw(200...600))
            hold(2.6, for: draw(15...70))
        }
        hold(28, for: 50)
        hold(1_950, for: draw(400...900))
        hold(75, for: draw(100...300))
        hold(2.6, for: draw(400...1_150))
        hold(28, for: draw(20...60))
    }

    /// Adds a run of the dryer: it heats, cools down, and perhaps turns against creases until the door is opened.
    fileprivate mutating func dry() {
        hold(2_900, for: draw(1_200...3_600))
        for _ in 0..<Int(draw(3...12)) {
            hold(250, for: draw(30...120))
            hold(2_850, for: draw(60...240))
        }
        hold(248, for: draw(300...700))
        if chance(0.6) { turn(260, for: 3...5, rest: 4.0, for: 25...80, during: draw(600...2_400)) }
    }

    /// Adds one run of the compressor and the pause after it. In the pause the lamp may be on. Every fifteenth pause
    /// contains a defrosting.
    fileprivate mutating func cool(_ use: Int) {
        let run = draw(650...950) * (chance(0.06) ? 1.8 : 1)
        cycle {
            $0.hold(290, for: 1.5)
            $0.hold(156, for: run * 0.2)
            $0.hold(138, for: run * 0.3)
            $0.hold(129, for: run * 0.5, noise: 0.01)
        }
        hold(0, for: draw(900...1_300))
        if chance(0.3) { hold(11, for: draw(5...40)) }
        if use % 15 == 14 {
            hold(0, for: 120)
            cycle { $0.hold(260, for: $0.draw(400...800)) }
        }
        hold(0, for: draw(900...1_300))
    }

    fileprivate mutating func watch() {
        hold(139, for: draw(1_200...12_000), noise: 0.1)
        if chance(0.3) { hold(77, for: draw(300...3_000)) }
    }

    fileprivate mutating func boil() { hold(2_000, for: draw(90...240)) }
}
