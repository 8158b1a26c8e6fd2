import Foundation
public import ProtocolCore

/// The rounds of a fuzz test: so many, always the same, in an ordinary run; as many as fit into SMARTPLUG_FUZZ_SECONDS, each
/// time others, when the fuzzers run longer.
public struct FuzzRounds: Sequence, IteratorProtocol {
    private var round = -1
    private let count: Int
    private let deadline: ContinuousClock.Instant?

    /// - Parameter parts: how many run one after another and share the time of a long run.
    public init(_ count: Int, sharedBy parts: Int = 1) {
        self.count = count
        deadline = Fuzzing.seconds.map { .now + .seconds($0 / Double(parts)) }
    }

    public mutating func next() -> Int? {
        round += 1
        // A long run does at least what an ordinary one does, so that what the test counts at its end holds for both.
        guard round < count || deadline.map({ .now < $0 }) == true else { return nil }
        return round
    }
}

public enum Fuzzing {
    static let environment = ProcessInfo.processInfo.environment
    static let seconds = environment["SMARTPLUG_FUZZ_SECONDS"].flatMap(Double.init)

    /// The generator of a fuzz test: of its own seed in an ordinary run, of SMARTPLUG_SEED or a new one in a long run, which
    /// says how to have it again.
    public static func random(_ seed: UInt64, test: String = #function) -> SeededRandom {
        guard seconds != nil else { return SeededRandom(seed: seed) }
        let chosen = environment["SMARTPLUG_SEED"].flatMap(UInt64.init) ?? .random(in: .min ... .max)
        print("\(test): replay with Scripts/test fuzz --seed \(chosen)")
        return SeededRandom(seed: chosen)
    }
}
