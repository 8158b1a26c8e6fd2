import Metering
import ProtocolCore

/// Returns a random mixture of steady values, ramps, noise, spikes, gaps, times that go back, and missing columns.
func randomSamples(count: Int, _ random: inout SeededRandom) -> [Sample] {
    var time = Int64.random(in: -1_000_000...1_000_000_000_000, using: &random)
    var watts: Int32 = 0
    var mode = 0
    var hasVolts = random.chance(0.5)
    var hasAmperes = random.chance(0.5)
    return (0..<count).map { _ in
        if random.chance(0.01) { mode = .random(in: 0...4, using: &random) }
        if random.chance(0.002) { hasVolts.toggle() }
        if random.chance(0.002) { hasAmperes.toggle() }
        time += random.chance(0.002) ? .random(in: -5000...100_000_000, using: &random) : 1000
        switch mode {
        case 0: watts = 0
        case 1: watts += 7
        case 2: watts = .random(in: 1300...1350, using: &random)
        case 3: watts = random.chance(0.03) ? .random(in: .min ... .max, using: &random) : 20
        default: time += .random(in: 0...3, using: &random)
        }
        watts = max(-1_000_000, min(1_000_000_000, watts))
        return Sample(
            milliseconds: time, deciwatts: watts,
            decivolts: hasVolts ? .random(in: 2280...2320, using: &random) : nil,
            milliamperes: hasAmperes ? .random(in: 0...100_000, using: &random) : nil)
    }
}
