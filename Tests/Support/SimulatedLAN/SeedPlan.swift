/// Which seeds a simulation runs: SMARTPLUG_SEED names a single one to replay, SMARTPLUG_SEEDS how many to sample.
public struct SeedPlan: Sendable {
    public let seeds: [UInt64]

    /// - Parameters:
    ///   - environment: the process's; a value that is no number is a mistake worth stopping for.
    ///   - sampled: how many without SMARTPLUG_SEEDS.
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

    /// Runs one house after another; a seed that fails does not keep the others from being tried.
    ///
    /// - Throws: the first failure, with the seeds that failed as well.
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

    /// Failures after which there is nothing to learn from more of them.
    private static let mostFailures = 10
}
