import LinuxSystem
public import PowerHistory

/// The result of one recording of `plugctl history import --json`. It is printed after the recording is stored.
public struct ImportRecord: Codable, Hashable, Sendable {
    /// Lines that were not imported as samples, for one reason: `empty`, `header`, `unreadable`, `sameTime`,
    /// `noSuchTime`, `earlierSegment`, `known`, `forgotten`.
    public struct LeftOut: Codable, Hashable, Sendable {
        /// The reason, one of the words above.
        public var reason: String
        /// The number of lines.
        public var lines: Int
        /// The number of the first line, counted from 1.
        public var first: Int
    }

    /// Always "imported".
    public var event = "imported"
    /// The path of the recording.
    public var file: String
    /// The plug's name.
    public var plug: String
    /// The time of the first sample: ISO 8601, local time with its offset. Omitted without samples.
    public var from: String?
    /// The time of the last sample, in the same format.
    public var to: String?
    /// The number of lines in the file: `samples` plus the lines of `leftOut`.
    public var lines: Int
    /// The number of lines that were imported as samples. The history may contain more samples, because those of a slow
    /// recording are interpolated.
    public var samples: Int
    /// The lines that were not imported as samples, by reason.
    public var leftOut: [LeftOut]
    /// The number of steps back in time. A ``StepBackRecord`` was printed for each.
    public var stepsBack: Int

    /// Creates the record of an imported recording.
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

    /// Text for the user, two lines.
    public var texts: [String] {
        let span = from.flatMap { from in to.map { ", \(from) to \($0)" } } ?? ""
        let reasons = leftOut.map { "\($0.lines) \(Self.words(for: $0.reason)) (first: line \($0.first))" }
        let left = leftOut.reduce(0) { $0 + $1.lines }
        return [
            "\(file): \(samples) samples of \(plug)\(span)",
            "\(file): \(lines) lines read, \(samples) samples imported, \(left) lines left out"
                + (reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", ")),
        ]
    }

    private static func words(for reason: String) -> String {
        switch PlacedRecording.Reason(rawValue: reason) {
        case .empty: "empty"
        case .header: "with column names"
        case .unreadable: "that cannot be read"
        case .sameTime: "with the same time as the next line"
        case .noSuchTime: "with a local time that does not exist"
        case .earlierSegment: "with a time that is in an earlier segment"
        case .known: "with a time that is already in the history"
        case .forgotten: "older than the history keeps"
        case nil: reason
        }
    }
}

/// A step back in time, printed before the ``ImportRecord`` of its recording.
public struct StepBackRecord: Codable, Hashable, Sendable {
    /// Always "stepBack".
    public var event = "stepBack"
    /// The path of the recording.
    public var file: String
    /// The number of the line that begins the new segment, counted from 1.
    public var line: Int
    /// The time of the previous line: ISO 8601, local time with its offset.
    public var from: String
    /// The time of this line.
    public var to: String

    /// Creates the record of a step.
    public init(_ step: PlacedRecording.StepBack, file: String) {
        self.file = file
        line = step.line
        from = iso8601(step.from)
        to = iso8601(step.to)
    }

    /// Text for the user.
    public var text: String { "\(file): line \(line): time steps back from \(from) to \(to); a new segment begins" }
}

/// Formats a time in local time with its offset.
///
/// - Parameter milliseconds: since 1970.
private func iso8601(_ milliseconds: Int64) -> String {
    let time = WallTime(millisecondsSince1970: milliseconds)
    return time.iso8601(offset: time.localOffset)
}
