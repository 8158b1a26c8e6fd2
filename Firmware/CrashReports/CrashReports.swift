import CCrashReport
public import DurableFiles
public import PlugModel

/// What tells a plug that its firmware did not end in order, and how.
///
/// RUNTIME/life is there while a plug runs: which firmware of which boot. A signal that ends it adds which it was and where the
/// program was; an orderly stop removes it. So the next start knows a crash from a kill, and both from a loss of power, which
/// ends the boot. RUNTIME/crash is the newest of this boot, with how many there were. STATE/crash is the first of its boot, so
/// that it is still known after a loss of power: at most one replacement in flash a boot, however often the firmware crashes.
public struct CrashReports: Sendable {
    /// Why this life is not reported if it ends.
    public struct Refusal: Error, CustomStringConvertible {
        public let description: String
    }

    /// Bytes of a report's file that are read: far more than a handler writes.
    private static let limit = 8192

    private let life: String
    private let newest: String
    private let kept: String
    private let boot: BootID
    private let files: FileStore

    /// - Parameters:
    ///   - state: the directory in flash. Both directories are held by a plug when it calls what changes anything.
    ///   - runtime: the directory in memory.
    public init(state: String, runtime: String, boot: BootID, files: FileStore = FileStore()) {
        (life, newest, kept) = ("\(runtime)/life", "\(runtime)/crash", "\(state)/crash")
        (self.boot, self.files) = (boot, files)
    }

    /// Takes over what the life before left, where it did not end in order.
    ///
    /// - Returns: what is new; nil after an orderly stop or a loss of power.
    public func takeOver() throws(FileError) -> PlugCrash? {
        guard let left = try report(life), left.boot == boot else { return nil }
        let text = left.isSignal ? left.text : left.text + LifeReport.killed
        let count = ((try? report(newest))?.flatMap { $0.boot == boot ? $0.count : nil } ?? 0) + 1
        let told = LifeReport(LifeReport.counted(count, text))
        try files.replace(newest, with: Array(told.text.utf8))
        try files.removeIfPresent(life)
        // What flash does not take is known all the same until power is lost.
        if left.isSignal, (try? report(kept))??.boot != boot { try? files.replace(kept, with: Array(text.utf8)) }
        return told.crash(in: boot)
    }

    /// The newest that is known: of this boot, or else what flash has.
    public func last() throws(FileError) -> PlugCrash? {
        if let report = try report(newest), report.boot == boot { return report.crash(in: boot) }
        return try report(kept)?.crash(in: boot)
    }

    /// From here on this life is reported.
    public func begin(firmware: String) throws(Refusal) {
        let header = "firmware \(firmware)\nboot \(LifeReport.words(boot))\n"
        let error = ccrashreport_begin(life, header)
        guard error != 0 else { return }
        throw Refusal(
            description: "\(life) cannot be written (error \(error)): if the firmware crashes, nobody is told of it")
    }

    /// This life ends in order.
    public func end() {
        ccrashreport_end()
        // One that stays is told as a kill.
        try? files.removeIfPresent(life)
    }

    private func report(_ path: String) throws(FileError) -> LifeReport? {
        try files.readIfPresent(path, limit: Self.limit).map { LifeReport(String(decoding: $0, as: UTF8.self)) }
    }
}
