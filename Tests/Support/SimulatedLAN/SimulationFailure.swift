internal import ProtocolCore

/// The reason of a failed run, with the command that replays it.
public struct SimulationFailure: Error, CustomStringConvertible {
    /// The seed of the run.
    public let seed: UInt64
    /// The violated invariant or the error, usually with its time in the run.
    public let reason: String
    /// The last deliveries before the failure, oldest first.
    public let trace: [String]

    /// Creates a failure of a run.
    public init(seed: UInt64, reason: String, trace: [String]) {
        self.seed = seed
        self.reason = reason
        self.trace = trace
    }

    public var description: String {
        let lines = trace.map { "  \($0)" }.joined(separator: "\n")
        return """
            seed \(seed): \(reason)
            the last deliveries:
            \(lines)
            replay: Scripts/test simulation --seed \(seed)
            """
    }
}

/// The last deliveries of a run, stored as values and formatted only after a failure.
struct Trace {
    struct Entry {
        let time: Instant
        let host: String
        let event: String
        let bytes: Int?
    }

    private var ring: [Entry] = []
    private var oldest = 0
    private static let limit = 40

    mutating func add(_ entry: Entry) {
        guard ring.count == Self.limit else { return ring.append(entry) }
        ring[oldest] = entry
        oldest = (oldest + 1) % Self.limit
    }

    var lines: [String] {
        (ring[oldest...] + ring[..<oldest]).map { entry in
            "\((entry.time - .zero).inSeconds) s \(entry.host): \(entry.event)"
                + (entry.bytes.map { " (\($0) bytes)" } ?? "")
        }
    }
}
