import LinuxClocks
public import PowerHistory

/// What `plugctl history import --json` prints of each recording when it is in the history.
public struct ImportRecord: Codable, Hashable, Sendable {
    /// Lines that are no samples, for one reason: `empty`, `header`, `unreadable`, `sameTime`, `noSuchTime`,
    /// `earlierSegment`, `known`, `forgotten`.
    public struct LeftOut: Codable, Hashable, Sendable {
        public var reason: String
        public var lines: Int
        /// The number of the first, counted from 1.
        public var first: Int
    }

    public var event = "imported"
    public var file: String
    public var plug: String
    /// ISO 8601, local time with its offset: of the first sample and the last. Left out without any.
    public var from: String?
    public var to: String?
    /// Of the file: as many as `samples` and the lines of `leftOut` together.
    public var lines: Int
    public var samples: Int
    public var leftOut: [LeftOut]
    /// Each was told by a line of its own before.
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

    /// For a person, a line each.
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
        case .header: "with the names of columns"
        case .unreadable: "that cannot be read"
        case .sameTime: "of the same time as the next"
        case .noSuchTime: "of a local time that does not exist"
        case .earlierSegment: "of a time that an earlier segment has"
        case .known: "of a time that the history has already"
        case .forgotten: "older than what the history keeps"
        case nil: reason
        }
    }
}

/// What it prints before, of each step back in time.
public struct StepBackRecord: Codable, Hashable, Sendable {
    public var event = "stepBack"
    public var file: String
    /// With which the new segment begins, counted from 1.
    public var line: Int
    /// ISO 8601, local time with its offset: of the line before and of this one.
    public var from: String
    public var to: String

    public init(_ step: PlacedRecording.StepBack, file: String) {
        self.file = file
        line = step.line
        from = iso8601(step.from)
        to = iso8601(step.to)
    }

    /// For a person.
    public var text: String { "\(file): line \(line): time steps back from \(from) to \(to), and a new segment begins" }
}

/// - Parameter milliseconds: since 1970.
private func iso8601(_ milliseconds: Int64) -> String {
    let time = WallTime(millisecondsSince1970: milliseconds)
    return time.iso8601(offset: time.localOffset)
}
