/// The seeds of a simulation: SMARTPLUG_SEED replays a single one, SMARTPLUG_SEEDS sets the number of seeds.
public struct SeedPlan: Sendable {
    /// The seeds, in ascending order.
    public let seeds: [UInt64]

    /// Selects the seeds.
    ///
    /// - Parameters:
    ///   - environment: the process's environment; a value that is not a number stops the run.
    ///   - sampled: the number of seeds without SMARTPLUG_SEEDS.
    public init(environment: [String: String], sampled: Int = 200) {
        func number<Value: FixedWidthInteger>(_ name: String, _: Value.Type) -> Value? {
            guard let text = environment[name], !text.isEmpty else { return nil }
            guard let value = Value(text) else { preconditionFailure("\(name) is \"\(text)\"; a number is expected") }
            return value
        }
        if let seed = number("SMARTPLUG_SEED", UInt64.self) {
            seeds = [seed]
        } else {
            seeds = (1...UInt64(max(1, number("SMARTPLUG_SEEDS", Int.self) ?? sampled))).map { $0 }
        }
    }

    private init(seeds: [UInt64]) { self.seeds = seeds }

    /// Splits the seeds into parts of about the same size, which can run at the same time.
    public func parts(_ count: Int) -> [SeedPlan] {
        (0..<min(count, seeds.count)).map { part in
            SeedPlan(seeds: stride(from: part, to: seeds.count, by: count).map { seeds[$0] })
        }
    }

    /// Runs `house` with one seed after another. After a failure the remaining seeds still run, until ten more have
    /// failed.
    ///
    /// - Throws: the first failure, with the other failing seeds.
    public func run(_ house: (UInt64) throws(SimulationFailure) -> Void) throws(SimulationFailure) {
        var first: SimulationFailure?
        var others: [String] = []
        for seed in seeds where others.count < Self.mostFailures {
            do throws(SimulationFailure) {
                try house(seed)
            } catch {
                if first == nil { first = error } else { others.append("seed \(seed): \(error.reason)") }
            }
        }
        guard let first else { return }
        throw SimulationFailure(
            seed: first.seed, reason: ([first.reason] + others).joined(separator: "\n"), trace: first.trace)
    }

    /// The number of failures after the first one at which the run stops.
    private static let mostFailures = 10
}
