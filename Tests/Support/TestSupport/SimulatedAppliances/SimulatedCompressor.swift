extension PowerScript {
    /// Adds one run of the compressor and the rest after it. In the rest the lamp may be on. Every fifteenth rest
    /// contains a defrosting.
    mutating func cool(_ machine: SimulatedMachine, _ use: Int) {
        let (level, run, rest) = machine.compressor
        cycle { $0.runCompressor(level, for: $0.draw(run * 0.8...run * 1.2) * ($0.chance(0.06) ? 1.8 : 1)) }
        hold(0, for: draw(rest * 0.4...rest * 0.6))
        if chance(0.3) { hold(11, for: draw(5...40)) }
        if use % 15 == 14 {
            hold(0, for: 120)
            cycle { $0.hold(level * 1.9, for: $0.draw(400...800)) }
        }
        hold(0, for: draw(rest * 0.4...rest * 0.6))
    }

    /// Adds one run of 35 to 137 minutes and a rest of 15 to 100 minutes.
    mutating func coolIrregularly(_ machine: SimulatedMachine) {
        cycle { $0.runCompressor(machine.compressor.level, for: $0.draw(2_100...8_220)) }
        hold(0, for: draw(900...6_000))
        if chance(0.3) { hold(14, for: draw(5...40)) }
    }

    private mutating func runCompressor(_ level: Double, for seconds: Double) {
        // The start current lasts about a second, so a sample may average it with the following power.
        if chance(0.7) { hold(level * draw(1.4...2.4), for: 1.5) }
        hold(level * 1.15, for: min(200, seconds * 0.2))
        hold(level * 1.04, for: seconds * 0.3)
        hold(level * 0.97, for: max(0, seconds * 0.7 - min(200, seconds * 0.2)), noise: 0.01)
    }

    /// Adds runs of a refrigerator and a freezer on the same plug, which start independently. A cycle is a span in which
    /// at least one runs.
    mutating func coolTwice(_ machine: SimulatedMachine, uses: Int) {
        // Together they need less than 300 W, the least peak of a programme.
        let level = machine.compressor.level * 0.7
        let levels = [level, level * draw(0.75...1.3)]
        var isOn = [false, false]
        var left = [draw(300...1_500), draw(300...3_000)]
        let done = cycles.count + uses
        while cycles.count < done {
            // Both rest. The next run starts after at least three minutes, so that the spans are separate.
            let rest = max(180, left.min() ?? 0)
            hold(0, for: rest)
            left = left.map { max(0, $0 - rest) }
            cycle { script in
                repeat {
                    for index in 0..<2 where left[index] <= 0 {
                        isOn[index].toggle()
                        let usual = isOn[index] ? machine.compressor.run : machine.compressor.rest
                        left[index] = script.draw(usual * 0.7...usual * 1.3) * (index == 0 ? 1 : 1.4)
                        let running = script.power(of: levels, isOn)
                        guard isOn[index] else { continue }
                        script.hold(running + levels[index] * 0.8, for: 1)
                        script.hold(running + levels[index] * 0.12, for: 120)
                    }
                    guard isOn.contains(true) else { return }
                    let span = left.min() ?? 0
                    script.hold(script.power(of: levels, isOn), for: span)
                    left = left.map { max(0, $0 - span) }
                } while true
            }
        }
        hold(0, for: 1_200)
    }

    private func power(of levels: [Double], _ isOn: [Bool]) -> Double {
        zip(levels, isOn).map { $1 ? $0 : 0 }.reduce(0, +)
    }

    /// Adds the charging of a laptop that is in use: the current falls as the battery fills, and the processor adds
    /// bursts. Then the laptop sleeps.
    mutating func charge(_ machine: SimulatedMachine) {
        let full = machine.pump * 0.8
        for part in 0..<Int(draw(7...10)) {
            for _ in 0..<Int(draw(8...12)) {
                hold(full * max(0.7, 1 - Double(part) * 0.03), for: draw(5...25), noise: 0.04)
                hold(full * draw(1.1...1.3), for: draw(1...8), noise: 0.1)
            }
        }
        hold(0.8, for: draw(1_200...2_400))
    }

    /// Adds one hour of a fountain whose timer runs the pump for 20 minutes: constant power without a start current.
    mutating func pump(_ machine: SimulatedMachine) {
        // Cold water is harder to move.
        hold(machine.pump * 1.05, for: 60, noise: 0.01)
        hold(machine.pump, for: 1_140, noise: 0.01)
        hold(0, for: 1_500)
    }
}
