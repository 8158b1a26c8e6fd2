import Foundation
public import ProtocolCore

/// The rounds of a fuzz test. An ordinary run has a fixed number of rounds. A long run has at least this number, and
/// continues until its share of SMARTPLUG_FUZZ_SECONDS has passed.
public struct FuzzRounds: Sequence, IteratorProtocol {
    private var round = -1
    private let count: Int
    private let deadline: ContinuousClock.Instant?

    /// Creates the sequence of rounds.
    ///
    /// - Parameters:
    ///   - count: the number of rounds of an ordinary run.
    ///   - parts: the number of sequences that run one after another and share the time of a long run.
    public init(_ count: Int, sharedBy parts: Int = 1) {
        self.count = count
        deadline = Fuzzing.seconds.map { .now + .seconds($0 / Double(parts)) }
    }

    /// Returns the number of the next round, starting at 0, or nil after the last round.
    public mutating func next() -> Int? {
        round += 1
        // A long run has at least as many rounds as an ordinary run, so that it reaches the counts that a test expects.
        guard round < count || deadline.map({ .now < $0 }) == true else { return nil }
        return round
    }
}

/// The seed and the duration of fuzz tests, from the environment.
public enum Fuzzing {
    static let environment = ProcessInfo.processInfo.environment
    static let seconds = environment["SMARTPLUG_FUZZ_SECONDS"].flatMap(Double.init)

    /// Returns the generator of a fuzz test. An ordinary run uses the given seed. A long run uses SMARTPLUG_SEED or a
    /// random seed, and prints the command that replays it.
    public static func random(_ seed: UInt64, test: String = #function) -> SeededRandom {
        guard seconds != nil else { return SeededRandom(seed: seed) }
        let chosen = environment["SMARTPLUG_SEED"].flatMap(UInt64.init) ?? .random(in: .min ... .max)
        print("\(test): replay with Scripts/test fuzz --seed \(chosen)")
        return SeededRandom(seed: chosen)
    }
}
