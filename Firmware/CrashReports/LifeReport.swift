import PlugModel
import ProtocolCore

/// The text of a report: lines for whoever mends the firmware, some of which are read again here. It may have been cut off anywhere.
struct LifeReport {
    /// What is said of a life that ended without a word.
    static let killed = "killed: no memory was left, the watchdog lost patience, or somebody did it\n"

    let text: String

    init(_ text: String) { self.text = text }

    /// A report says first which of its boot it is.
    static func counted(_ count: Int, _ text: String) -> String { "crash \(count) of this boot\n" + text }

    static func words(_ boot: BootID) -> String {
        boot.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The words of the first line that begins with this one.
    private func words(_ first: String) -> [Substring]? {
        text.split(separator: "\n").lazy.map { $0.split(separator: " ") }.first { $0.first.map(String.init) == first }
            .map { Array($0.dropFirst()) }
    }

    var boot: BootID? {
        guard let digits = words("boot")?.first.map(Array.init), digits.count == 32 else { return nil }
        let bytes = stride(from: 0, to: 32, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
        return BootID(bytes: bytes)
    }

    var count: Int? { words("crash")?.first.flatMap { Int($0) } }

    /// A signal ended it; false: it ended without a word.
    var isSignal: Bool { words("signal") != nil }

    /// When, on the clock of its boot.
    private var time: Instant? {
        let line = text.split(separator: "\n").first { $0.split(separator: " ").dropFirst().first == "ms" }
        guard let digits = line?.split(separator: " ").first, let milliseconds = Int64(digits) else { return nil }
        // Three hundred years: nothing that overflows.
        return milliseconds < 10_000_000_000_000 ? Instant(nanoseconds: milliseconds * 1_000_000) : nil
    }

    /// - Parameter boot: the present one.
    func crash(in boot: BootID) -> PlugCrash {
        let isPresent = self.boot == boot
        return PlugCrash(
            report: PlugCrash.bounded(text), count: isPresent ? count ?? 1 : 0, at: isPresent ? time : nil)
    }
}
