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
}
