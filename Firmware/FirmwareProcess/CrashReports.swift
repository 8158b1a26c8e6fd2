import CFirmwareProcess
public import LinuxSystem
public import PlugModel

/// Detects whether the previous process of the firmware crashed or was killed, and reports it.
///
/// RUNTIME/life exists while a plug runs and contains its firmware version and boot id. The handler of a fault signal
/// adds the signal's name and the program's stack; an orderly stop removes the file. The next start can therefore
/// distinguish a crash from a kill, and both from a power loss, which ends the boot. RUNTIME/crash has the newest
/// report of this boot and the number of reports of this boot. STATE/crash has the first report of its boot in which a
/// signal ended the process. It survives a power loss. Flash is written at most once per boot, however often the
/// firmware crashes.
public struct CrashReports: Sendable {
    /// The reason why a crash of this process would not be reported.
    public struct Refusal: Error, CustomStringConvertible {
        /// The message for the log.
        public let description: String
    }

    /// The limit of a report's file in bytes, far more than a handler writes.
    private static let limit = 8192

    private let life: String
    private let newest: String
    private let kept: String
    private let boot: BootID
    private let files: FileStore

    /// Creates the value without accessing files.
    ///
    /// - Parameters:
    ///   - state: the directory in flash. The plug must hold the locks of both directories when it calls methods that
    ///     change files.
    ///   - runtime: the directory in memory.
    public init(state: String, runtime: String, boot: BootID, files: FileStore = FileStore()) {
        (life, newest, kept) = ("\(runtime)/life", "\(runtime)/crash", "\(state)/crash")
        (self.boot, self.files) = (boot, files)
    }

    /// Reads the report that the previous process left if it did not stop in order, and stores it as the newest crash.
    ///
    /// - Returns: the new crash; nil after an orderly stop or a power loss.
    public func takeOver() throws(FileError) -> PlugCrash? {
        guard let left = try report(life), left.boot == boot else { return nil }
        let text = left.isSignal ? left.text : left.text + LifeReport.killed
        let count = ((try? report(newest))?.flatMap { $0.boot == boot ? $0.count : nil } ?? 0) + 1
        let told = LifeReport(LifeReport.counted(count, text))
        try files.replace(newest, with: Array(told.text.utf8))
        try files.removeIfPresent(life)
        // If the write to flash fails, the report is still known until the next power loss.
        if left.isSignal, (try? report(kept))??.boot != boot { try? files.replace(kept, with: Array(text.utf8)) }
        return told.crash(in: boot)
    }

    /// Returns the newest known crash: of this boot, or else from flash.
    public func last() throws(FileError) -> PlugCrash? {
        if let report = try report(newest), report.boot == boot { return report.crash(in: boot) }
        return try report(kept)?.crash(in: boot)
    }

    /// Starts the reporting for this process.
    public func begin(firmware: String) throws(Refusal) {
        let header = "firmware \(firmware)\nboot \(LifeReport.words(boot))\n"
        let error = ccrashreport_begin(life, header)
        guard error != 0 else { return }
        throw Refusal(
            description: "cannot write \(life) (error \(error)), so a crash of the firmware will not be reported")
    }

    /// Ends the reporting after an orderly stop.
    public func end() {
        ccrashreport_end()
        // A remaining file will be reported as a kill.
        try? files.removeIfPresent(life)
    }

    private func report(_ path: String) throws(FileError) -> LifeReport? {
        try files.readIfPresent(path, limit: Self.limit).map { LifeReport(String(decoding: $0, as: UTF8.self)) }
    }
}
