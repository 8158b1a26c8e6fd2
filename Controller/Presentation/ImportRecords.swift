import LinuxClocks
public import PowerHistory

/// The output of `plugctl history import --json` for each imported recording.
public struct ImportRecord: Codable, Hashable, Sendable {
    /// Lines that are not samples, with one reason: `empty`, `sameTime`, `noSuchTime`, `earlierSegment`, `known`, `forgotten`.
    public struct LeftOut: Codable, Hashable, Sendable {
        public var reason: String
        public var lines: Int
        /// The number of the first line, counted from 1.
        public var first: Int
    }

    public var event = "imported"
    public var file: String
    public var plug: String
    /// The times of the first and last sample: ISO 8601, local time with its offset. Omitted without samples.
    public var from: String?
    public var to: String?
    /// The lines of the file: the sum of `samples` and the lines of `leftOut`.
    public var lines: Int
    public var samples: Int
    public var leftOut: [LeftOut]
    /// The number of steps back in time, each of which was printed on its own line before.
    public var stepsBack: Int

    public init(_ recording: PlacedRecording, file: String, plug: String) {
        self.file = file
        self.plug = plug
        from = (recording.span?.lowerBound).map(iso8601)
        to = (recording.span?.upperBound).map(iso8601)
        lines = recording.lines
        samples = recording.samples.count
        leftOut = PlacedRecording.Reason.allCases.compactMap { reason in
            recording.leftOut[reason].map { LeftOut(reason: reason.rawValue, lines: $0.lines, first: $0.first) }
        }
        stepsBack = recording.stepsBack.count
    }

    /// Text for the user, one line each.
    public var texts: [String] {
        let span = from.flatMap { from in to.map { ", \(from) to \($0)" } } ?? ""
        let reasons = leftOut.map { "\($0.lines) \(Self.words(for: $0.reason)) (first: line \($0.first))" }
        let left = leftOut.reduce(0) { $0 + $1.lines }
        return [
            "\(file): \(samples) samples of \(plug)\(span)",
            "\(file): \(lines) lines read, \(samples) samples taken, \(left) lines left out"
                + (reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", ")),
        ]
    }

    private static func words(for reason: String) -> String {
        switch PlacedRecording.Reason(rawValue: reason) {
        case .empty: "empty"
        case .sameTime: "of the same time as the next"
        case .noSuchTime: "of a local time that does not exist"
        case .earlierSegment: "of a time that an earlier segment has"
        case .known: "of a time that the history has already"
        case .forgotten: "older than what the history keeps"
        case nil: reason
        }
    }
}

/// The output for each step back in time, before the ``ImportRecord``.
public struct StepBackRecord: Codable, Hashable, Sendable {
    public var event = "stepBack"
    public var file: String
    /// The first line of the new segment, counted from 1.
    public var line: Int
    /// The times of the previous line and of this one: ISO 8601, local time with its offset.
    public var from: String
    public var to: String

    public init(_ step: PlacedRecording.StepBack, file: String) {
        self.file = file
        line = step.line
        from = iso8601(step.from)
        to = iso8601(step.to)
    }

    /// Text for the user.
    public var text: String { "\(file): line \(line): time steps back from \(from) to \(to), and a new segment begins" }
}

/// - Parameter milliseconds: the time since 1970.
private func iso8601(_ milliseconds: Int64) -> String {
    let time = WallTime(nanosecondsSince1970: 0) + .milliseconds(milliseconds)
    return time.iso8601(offset: time.localOffset)
}
