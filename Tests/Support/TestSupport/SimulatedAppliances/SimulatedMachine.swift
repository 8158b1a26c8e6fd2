/// The properties in which machines of the same model differ: drawn once for each script.
struct SimulatedMachine {
    /// Watts between uses, and in the pauses of a programme.
    var standby: Double
    var rest: Double
    /// Watts of the motor that turns the drum, of the heater, and of the pump that circulates the water.
    var motor: Double
    var heater: Double
    var pump: Double
    /// The programmes that the user chooses, the usual one first.
    var programmes: [Programme]
    /// Watts and usual seconds of a run of a compressor, and its usual rest.
    var compressor: (level: Double, run: Double, rest: Double)

    init(_ script: inout PowerScript) {
        standby = script.draw(0.2...1.0)
        rest = script.draw(2.4...4.2)
        motor = script.draw(150...260)
        heater = script.draw(1_750...2_250)
        pump = script.draw(50...95)
        programmes = (0..<3).map { _ in Programme(&script) }
        compressor = (script.draw(65...160), script.draw(600...1_500), script.draw(1_300...2_600))
    }
}

extension SimulatedMachine {
    /// A programme of a machine: seconds, and numbers of repetitions.
    struct Programme {
        var heating: Double
        var main: Double
        /// Nil if laundry does not soak, or dishes dry without a pause.
        var soak: Double?
        var drying: Double
        var rinse: Double
        var rinses: Int
        var spin: Double
        var isAntiCrease: Bool

        init(_ script: inout PowerScript) {
            heating = script.draw(300...1_200)
            main = script.draw(400...2_400)
            soak = script.chance(0.2) ? script.draw(300...1_100) : nil
            drying = script.draw(400...1_100)
            rinse = script.draw(200...500)
            rinses = Int(script.draw(2...4.99))
            spin = script.draw(200...480)
            isAntiCrease = script.chance(0.4)
        }

        /// Returns the programme with slightly different durations, as the load and the water differ.
        func varied(_ script: inout PowerScript) -> Programme {
            var varied = self
            let pace = script.draw(0.94...1.06)
            varied.heating *= script.draw(0.85...1.15)
            varied.main *= pace
            varied.rinse *= pace
            varied.soak = soak.map { $0 * pace }
            varied.drying *= pace
            return varied
        }
    }

    /// Chooses a programme for the next use.
    func programme(_ script: inout PowerScript) -> Programme {
        programmes[script.chance(0.6) ? 0 : script.chance(0.6) ? 1 : 2].varied(&script)
    }
}

extension PowerScript {
    /// Adds a wash: the machine fills, tumbles, heats, perhaps soaks, rinses with spins in between, spins, and perhaps
    /// tumbles against creases. The power during soaking is `soak` if it is not that of other pauses.
    mutating func wash(_ machine: SimulatedMachine, soakingAt soak: Double? = nil) {
        let programme = machine.programme(&self)
        hold(12, for: 40)
        tumble(machine, during: draw(240...480))
        hold(machine.heater, for: programme.heating)
        tumble(machine, during: programme.main)
        if let soaking = programme.soak ?? (chance(0.05) ? draw(300...1_150) : nil) {
            hold(soak ?? machine.rest, for: soaking)
            tumble(machine, during: 300)
        }
        for _ in 0..<programme.rinses {
            spin(from: machine.motor, for: draw(60...150))
            // The drum stops, the water drains and flows in again.
            hold(machine.rest, for: draw(20...120))
            tumble(machine, during: programme.rinse)
        }
        spin(from: machine.motor, for: programme.spin)
        guard programme.isAntiCrease else { return }
        hold(machine.rest, for: draw(15...40))
        turn(machine.motor * 0.45, for: 3...6, rest: machine.rest, for: 12...60, during: draw(180...1_200))
    }

    /// Adds a wash without heating. Its greatest power is that of the last spin, for some seconds.
    mutating func washCold(_ machine: SimulatedMachine) {
        let programme = machine.programme(&self)
        hold(12, for: 40)
        for _ in 0...programme.rinses {
            turn(130, for: 5...12, rest: machine.rest, for: 6...14, during: programme.rinse)
            hold(20, for: 30)
        }
        turn(90, for: 20...30, rest: 17, for: 10...20, during: programme.spin)
        hold(240, for: 60)
        hold(draw(310...345), for: 3, noise: 0.01)
        hold(40, for: 4)
    }

    private mutating func tumble(_ machine: SimulatedMachine, during seconds: Double) {
        turn(machine.motor, for: 5...12, rest: machine.rest, for: 6...14, during: seconds)
    }

    private mutating func spin(from motor: Double, for seconds: Double) {
        hold(motor * 0.8, for: seconds / 2)
        hold(motor * draw(1.5...1.8), for: seconds / 2)
        // A spin ends with 40 W, because a rest at the end would not belong to the cycle.
        hold(40, for: 4)
    }

    /// Adds a run of the dishwasher: it rinses, washes hot, rinses again and dries without heating, for a longer time if
    /// `isSlow`. The cycle ends with a run of the drain pump, except for a quarter of the slow ones.
    mutating func washDishes(_ machine: SimulatedMachine, isSlow: Bool) {
        let programme = machine.programme(&self)
        hold(machine.pump, for: programme.spin * 1.4)
        hold(machine.rest, for: draw(20...60))
        hold(machine.heater, for: programme.heating)
        for _ in 0..<programme.rinses {
            hold(machine.pump * 1.6, for: 2)
            hold(machine.pump * 1.05, for: programme.rinse)
            hold(machine.rest, for: draw(15...100))
        }
        hold(28, for: 50)
        hold(machine.heater * 0.95, for: programme.heating * 0.7)
        hold(machine.pump, for: draw(100...300))
        guard !isSlow || programme.soak == nil else { return }
        hold(machine.rest, for: isSlow ? min(1_190, programme.drying * 0.4 + 800) : programme.drying)
        hold(28, for: draw(20...60))
    }

    /// Adds a run of the dryer: it heats, cools down, and perhaps turns against creases until the door is opened.
    mutating func dry(_ machine: SimulatedMachine) {
        let programme = machine.programme(&self)
        hold(machine.heater * 1.3, for: programme.main + programme.heating)
        for _ in 0..<programme.rinses * 3 {
            hold(machine.motor, for: draw(30...120))
            hold(machine.heater * 1.28, for: draw(60...240))
        }
        hold(machine.motor, for: draw(300...700))
        if programme.isAntiCrease || chance(0.3) {
            turn(machine.motor, for: 3...5, rest: machine.rest, for: 25...80, during: draw(600...2_400))
        }
    }
}
