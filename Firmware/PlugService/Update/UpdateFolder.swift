import LinuxSystem
import PlugModel

/// The files by which plugd and the installer of the image exchange bundles and their state. The installer has the
/// rights to write the system, and plugd does not.
///
/// - `STATE/update/bundle.raucb`: a complete bundle, which the installer takes and deletes; `older` next to it permits
///   an older system. `bundle.part` is a bundle that plugd receives.
/// - `RUNTIME/update`: the state, as lines NAME=VALUE that the installer writes. `RUNTIME/restart`: a request to restart.
///   `RUNTIME/restart-when-off`: a restart waits until the relay is off. Only plugd reads this file, after it has restarted.
struct UpdateFolder: Sendable {
    private let directories: PlugDirectories
    private let files: FileStore

    private static let bundleName = "bundle.raucb"
    /// Bytes that stay free on the data partition.
    private static let reserve: UInt64 = 8 << 20

    /// Returns nil if the folder does not exist, because this plug is not updated over the network.
    init?(_ directories: PlugDirectories, files: FileStore = FileStore()) {
        (self.directories, self.files) = (directories, files)
        guard names != nil else { return nil }
    }

    private var folder: String { directories.state + "/update" }
    private var part: String { folder + "/bundle.part" }
    private var bundle: String { folder + "/" + Self.bundleName }
    private var older: String { folder + "/older" }
    private var state: String { directories.runtime + "/update" }
    private var restart: String { directories.runtime + "/restart" }
    private var waiting: String { directories.runtime + "/restart-when-off" }

    /// True if a restart waited when plugd ended.
    var restartsWhenOff: Bool { FileStamp(of: waiting) != nil }

    /// Performs the work and returns the state of the installer after it. May wait for the storage.
    func perform(_ work: UpdateReception.Work) -> Result<UpdateReport, Refusal> {
        do throws(Refusal) {
            switch work {
            case .report: break
            case .create(let size): try create(size)
            case .write(let bytes, let offset): try write { () throws(FileError) in try append(bytes, offset) }
            case .complete(let bytes, let offset, let allowsOlder):
                try write { () throws(FileError) in
                    if allowsOlder { try files.replace(older, with: []) } else { try files.removeIfPresent(older) }
                    try append(bytes, offset, to: bundle)
                }
            case .delete:
                try write { () throws(FileError) in
                    try files.removeIfPresent(part)
                    try files.removeIfPresent(waiting)
                }
            case .restart(let atOnce):
                guard installer.phase == .installed else {
                    throw Refusal(.outOfRange, "no new system is installed")
                }
                try write { () throws(FileError) in
                    try files.replace(atOnce ? restart : waiting, with: [])
                    if atOnce { try files.removeIfPresent(waiting) }
                }
            }
            return .success(installer)
        } catch {
            return .failure(error)
        }
    }

    private func create(_ size: UInt64) throws(Refusal) {
        guard !isInstalling else { throw Refusal(.busy, "the plug installs an update") }
        try write { () throws(FileError) in try files.removeIfPresent(part) }
        let free = files.room(in: folder) ?? .max
        guard free >= size + Self.reserve else {
            throw Refusal(.storageFailed, "the bundle has \(size) bytes, but only \(free) are free on the plug")
        }
    }

    /// Appends bytes to the partial bundle. If they complete it, the bundle is durable and gets its name.
    private func append(_ bytes: [UInt8], _ offset: UInt64, to name: String? = nil) throws(FileError) {
        let file = try AppendingFile(part, durability: name == nil ? .process : .powerCut, store: files)
        guard UInt64(file.length) == offset else { throw FileError(.write, part, .damaged) }
        try file.append(bytes)
        if let name { try file.rename(to: name) }
    }

    private func write(_ body: () throws(FileError) -> Void) throws(Refusal) {
        do throws(FileError) { try body() } catch { throw Refusal(.storageFailed, "\(error)") }
    }

    private var names: [String]? { try? files.names(in: folder) }
    private var isInstalling: Bool { names?.contains(Self.bundleName) == true }

    /// The state that the installer has written. An unreadable file is the same as a missing one: after a start of the system,
    /// plugd runs before the installer.
    private var installer: UpdateReport {
        let text = (try? files.readText(state, limit: 4096)) ?? ""
        var report = UpdateReport(InstallerState(text))
        if isInstalling, report.percent == nil { report.phase = .installing(percent: 0) }
        return report
    }
}

/// The lines NAME=VALUE of the installer.
struct InstallerState {
    private var values: [Substring: Substring] = [:]

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if words.count == 2 { values[words[0]] = words[1] }
        }
    }

    /// Returns a value without the bytes after `limit`; empty if it is missing.
    func text(_ name: Substring, limit: Int) -> String {
        var value = values[name] ?? ""
        while value.utf8.count > limit { value.removeLast() }
        return String(value)
    }
}

extension UpdateReport {
    /// The state of an installer that runs or has run; ``Phase/unknown`` if its phase is missing.
    init(_ state: InstallerState) {
        let detail = state.text("detail", limit: PlugWire.longestUpdateDetail)
        let phase: Phase =
            switch state.text("phase", limit: 16) {
            case "installing":
                .installing(percent: min(max(Int(state.text("percent", limit: 3)) ?? 0, 0), 100))
            case "installed": .installed
            case "trying": .trying
            case "returned": .returned(detail)
            case "failed": .failed(detail)
            case "idle": .idle
            default: .unknown
            }
        self.init(
            board: state.text("board", limit: PlugWire.maximumName),
            system: state.text("system", limit: PlugWire.maximumName),
            newSystem: state.text("new", limit: PlugWire.maximumName), phase: phase)
    }

    fileprivate var percent: Int? { if case .installing(let percent) = phase { percent } else { nil } }
}
