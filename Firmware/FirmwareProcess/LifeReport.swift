import PlugModel
import ProtocolCore

/// The text of a report: lines for the firmware's developers, some of which are parsed here. It may be truncated
/// anywhere.
struct LifeReport {
    /// The text for a process that ended without a signal handler.
    static let killed = "killed: the memory was full, the watchdog timed out, or a user killed the process\n"

    let text: String

    init(_ text: String) { self.text = text }

    /// Returns a report that begins with its number within the boot.
    static func counted(_ count: Int, _ text: String) -> String { "crash \(count) of this boot\n" + text }

    static func words(_ boot: BootID) -> String {
        boot.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Returns the words after the given first word of a line.
    private func words(_ first: String) -> [Substring]? {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.first.map(String.init) == first { return Array(words.dropFirst()) }
        }
        return nil
    }

    var boot: BootID? {
        guard let digits = words("boot")?.first.map(Array.init), digits.count == 32 else { return nil }
        let bytes = stride(from: 0, to: 32, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
        return BootID(bytes: bytes)
    }

    var count: Int? { words("crash")?.first.flatMap { Int($0) } }

    /// True if a signal ended the process; false if it ended without a report.
    var isSignal: Bool { words("signal") != nil }

    /// The time of the crash on the clock of its boot.
    private var time: Instant? {
        let line = text.split(separator: "\n").first { $0.split(separator: " ").dropFirst().first == "ms" }
        guard let digits = line?.split(separator: " ").first, let milliseconds = Int64(digits) else { return nil }
        // The limit is three hundred years, which prevents an overflow.
        return milliseconds < 10_000_000_000_000 ? Instant(nanoseconds: milliseconds * 1_000_000) : nil
    }

    /// - Parameter boot: the current boot.
    func crash(in boot: BootID) -> PlugCrash {
        let isPresent = self.boot == boot
        return PlugCrash(
            report: PlugCrash.bounded(text), count: isPresent ? count ?? 1 : 0, at: isPresent ? time : nil)
    }
}
