/// Something that happened at a moment: an event of a plug, a rule that fired. Those with the same words share a sign.
public struct ChartMark: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public var time: Double
    public var label: String

    public init(time: Double, label: String) {
        self.time = time
        self.label = printable(label)
    }
}

/// Something that went on for a while: a wash, a phase of it.
public struct ChartSpan: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public var from: Double
    public var to: Double
    public var label: String
    /// What is shown where the label has no room.
    public var shortLabel: String?
    /// Which of the chart's series it is of; nil for what is of none, or of all.
    public var series: Int?

    public init(from: Double, to: Double, label: String, shortLabel: String? = nil, series: Int? = nil) {
        self.from = from
        self.to = to
        self.label = printable(label)
        self.shortLabel = shortLabel.map { printable($0) }
        self.series = series
    }

    /// The label, or the short one, where it fits as a whole: a number that is cut is another number.
    func words(within characters: Int) -> String? {
        [label, shortLabel].lazy.compactMap(\.self).first { $0.count <= characters }
    }
}

/// The marks of a window, each with its sign: 1 to 9 in the order of their first appearance, and `*` for all further ones.
struct MarkTable {
    struct Entry: Hashable {
        let sign: Character
        let label: String
        var count: Int

        var text: String { count == 1 ? "\(sign) \(label)" : "\(sign) \(label) ×\(count)" }
        var plainText: String { count == 1 ? "\(sign) \(label)" : "\(sign) \(label) x\(count)" }
    }

    private(set) var entries: [Entry] = []
    /// In the order of time.
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

/// Spans in rows, so that those which overlap stand one above the other, and those of a series have rows of their own.
struct SpanLanes {
    /// More would leave no room for the curve; what finds no row is left out.
    private static let limit = 4

    private(set) var lanes: [[ChartSpan]] = []

    init(_ spans: [ChartSpan], in window: ChartWindow) {
        let visible = spans.filter { $0.from < $0.to && $0.to > window.from && $0.from < window.to }
        // Of two that begin together the longer one comes first, and so stands above: a wash above its first phase.
        for span in visible.sorted(by: { ($0.from, -$0.to) < ($1.from, -$1.to) }) {
            if let free = lanes.firstIndex(where: { $0[0].series == span.series && $0[$0.count - 1].to <= span.from }) {
                lanes[free].append(span)
            } else if lanes.count < SpanLanes.limit {
                lanes.append([span])
            }
        }
        // Stable within a series, so that what was above stays above.
        lanes = lanes.enumerated().sorted {
            ($0.element[0].series ?? -1, $0.offset) < ($1.element[0].series ?? -1, $1.offset)
        }.map(\.element)
    }
}
