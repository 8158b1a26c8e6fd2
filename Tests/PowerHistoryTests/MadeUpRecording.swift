import HouseCalendar
import ProtocolCore

/// A recording of a meter in Central Europe whose clock is set now and then, with the expected result for each line.
struct MadeUpRecording {
    /// The clocks go forward on 29 March 2026 and back on 25 October, both at 01:00 UTC.
    static let europe = ZoneOffsets(
        initial: 3600,
        transitions: [.init(time: 1_774_746_000, seconds: 7200), .init(time: 1_792_890_000, seconds: 3600)])
    static let spring: Int64 = 1_774_746_000_000
    static let autumn: Int64 = 1_792_890_000_000

    private(set) var text = ""
    /// The time of each line with a valid date, in milliseconds since 1970, keyed by line number.
    private(set) var told: [Int: Int64] = [:]
    private(set) var lines = 0
    private(set) var empty = 0
    /// The number of lines with a time that does not exist.
    private(set) var impossible = 0
    /// The numbers of the lines whose time is before that of the previous line with a time.
    private(set) var falls: [Int] = []
    private let separator: String
    private let quoted: Int

    /// The power of a line in watts is its line number modulo 1000.
    init(_ random: inout SeededRandom) {
        separator = Bool.random(using: &random) ? ";" : ","
        quoted = Int.random(in: 0...10, using: &random)
        let change =
            [Self.spring, Self.autumn, Self.autumn + 40 * 86_400_000].randomElement(using: &random) ?? Self.spring
        var time = change - Int64.random(in: 0...9_000, using: &random) * 1000
        let pace = Int64.random(in: 1...60, using: &random)
        let isSet = Bool.random(using: &random)
        for _ in 0..<Int.random(in: 2...800, using: &random) {
            add(time, &random)
            let chance = Int.random(in: 0..<200, using: &random)
            let next = time + Self.step(chance, pace, isSet, &random) * 1000
            // If the clock is set back across the change of daylight saving, the local times are ambiguous.
            let isClear =
                next > time || !(Self.autumn - 3_600_000..<Self.autumn + 3_600_000).contains(next)
                || (next < Self.autumn) == (time < Self.autumn) && time - next < LocalTimeline.setting
            time = isClear ? next : time + 1000
        }
    }

    private static func step(_ chance: Int, _ pace: Int64, _ isSet: Bool, _ random: inout SeededRandom) -> Int64 {
        switch chance {
        case 0: Int64.random(in: 1...1800, using: &random)
        case 1: 0
        case 2 where isSet: -Int64.random(in: 1...590, using: &random)
        case 3 where isSet: -Int64.random(in: 3600...20_000, using: &random)
        case _: pace
        }
    }

    private mutating func add(_ time: Int64, _ random: inout SeededRandom) {
        switch Int.random(in: 0..<60, using: &random) {
        case 0:
            append("", &random)
            empty += 1
        case 1:
            append(Self.text(Self.spring + 3_600_000 + Int64.random(in: 0..<3600, using: &random) * 1000), &random)
            impossible += 1
        case _: break
        }
        if let last = told[told.keys.max() ?? 0], time < last { falls.append(lines + 1) }
        append(Self.local(time), &random)
        told[lines] = time
    }

    private mutating func append(_ date: String, _ random: inout SeededRandom) {
        lines += 1
        let fields = date.isEmpty ? [] : [date, "\(lines % 1000)"]
        text +=
            fields.map { Int.random(in: 0..<10, using: &random) < quoted ? "\"\($0)\"" : $0 }
            .joined(separator: separator) + (Bool.random(using: &random) ? "\n" : "\r\n")
    }

    /// Returns the local time in the format of the recording.
    static func local(_ time: Int64) -> String { text(time + Int64(europe.offset(at: Double(time) / 1000)) * 1000) }

    static func text(_ local: Int64) -> String {
        let civil = CivilTime(localSeconds: Double(local) / 1000)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return
            "\(two(civil.day))/\(two(civil.month))/\(civil.year) \(two(civil.hour)):\(two(civil.minute)):\(two(civil.second))"
    }
}
