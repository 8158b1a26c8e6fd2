/// An event at a moment, such as a plug's event or a firing of a rule. Marks with the same label share a sign.
public struct ChartMark: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public var time: Double
    /// The text in the legend of marks.
    public var label: String

    /// Creates a mark; control characters are removed from its label.
    public init(time: Double, label: String) {
        self.time = time
        self.label = printable(label)
    }
}

/// An event with a duration: a washing programme or one of its phases.
public struct ChartSpan: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public var from: Double
    /// The end, in seconds since 1970-01-01 00:00 UTC.
    public var to: Double
    /// The text in the span, and the tooltip of an SVG.
    public var label: String
    /// The text that is shown if the label has no room.
    public var shortLabel: String?
    /// The index of the series that the span belongs to; nil if it belongs to none or to all.
    public var series: Int?

    /// Creates a span; control characters are removed from its labels.
    public init(from: Double, to: Double, label: String, shortLabel: String? = nil, series: Int? = nil) {
        self.from = from
        self.to = to
        self.label = printable(label)
        self.shortLabel = shortLabel.map { printable($0) }
        self.series = series
    }

    /// Returns the label if it fits completely, else the short label if that fits, else nil. Labels are not truncated,
    /// because a truncated number would be wrong.
    func words(within characters: Int) -> String? {
        [label, shortLabel].lazy.compactMap(\.self).first { $0.count <= characters }
    }
}

/// The marks in a window, each with its sign: 1 to 9 in the order of their first appearance, then `*` for all others.
struct MarkTable {
    struct Entry: Hashable {
        let sign: Character
        let label: String
        var count: Int

        var text: String { count == 1 ? "\(sign) \(label)" : "\(sign) \(label) ×\(count)" }
        var plainText: String { count == 1 ? "\(sign) \(label)" : "\(sign) \(label) x\(count)" }
    }

    private(set) var entries: [Entry] = []
    /// The marks and their signs, sorted by time.
    private(set) var marks: [(time: Double, sign: Character)] = []

    init(_ all: [ChartMark], in window: ChartWindow) {
        var known: [String: Int] = [:]
        for mark in all.sorted(by: { $0.time < $1.time }) where mark.time >= window.from && mark.time <= window.to {
            let index = known[mark.label] ?? min(known.count, 9)
            known[mark.label] = index
            if index == entries.count {
                let sign: Character = index < 9 ? Character(Unicode.Scalar(UInt8(ascii: "1") + UInt8(index))) : "*"
                entries.append(Entry(sign: sign, label: index < 9 ? mark.label : "others", count: 0))
            }
            entries[index].count += 1
            marks.append((mark.time, entries[index].sign))
        }
    }
}

/// Arranges spans in rows, so that overlapping spans are above each other and series do not share rows.
struct SpanLanes {
    /// The maximum number of rows; more would leave no room for the curve. Spans without a row are left out.
    private static let limit = 4

    private(set) var lanes: [[ChartSpan]] = []

    init(_ spans: [ChartSpan], in window: ChartWindow) {
        let visible = spans.filter { $0.from < $0.to && $0.to > window.from && $0.from < window.to }
        // If two spans have the same start, the longer one comes first and is drawn above the other: a washing
        // programme above its first phase.
        for span in visible.sorted(by: { ($0.from, -$0.to) < ($1.from, -$1.to) }) {
            if let free = lanes.firstIndex(where: { $0[0].series == span.series && $0[$0.count - 1].to <= span.from }) {
                lanes[free].append(span)
            } else if lanes.count < SpanLanes.limit {
                lanes.append([span])
            }
        }
        // Groups the rows by series. Within a series, the order of rows does not change.
        lanes = lanes.enumerated().sorted {
            ($0.element[0].series ?? -1, $0.offset) < ($1.element[0].series ?? -1, $1.offset)
        }.map(\.element)
    }
}
