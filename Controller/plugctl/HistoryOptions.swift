import ArgumentParser
import DaemonClient
import HouseCalendar
import LinuxSystem
import PlugClient
import PlugModel
import PowerHistory
import Presentation

/// The directory of the history.
struct HistoryOptions: ParsableArguments {
    @Option(
        help: "The history's directory. (default: $STATE_DIRECTORY/history, else ~/.local/state/smartplug/history)",
        completion: .directory)
    var history: String?

    func open(_ role: PowerHistory.Role) throws(CLIError) -> PowerHistory {
        do throws(HistoryError) {
            return try PowerHistory(history ?? PowerHistory.defaultDirectory(), role: role, complain: printError)
        } catch {
            throw CLIError(error)
        }
    }

    /// Opens the history for reading. Without `--history`, the history of the running daemon is used, which may have
    /// its own `--history`; without a daemon, the default directory.
    func openForReading() async throws(CLIError) -> PowerHistory {
        var found = self
        if history == nil { found.history = await Self.directoryOfDaemon() }
        return try found.open(.reader)
    }

    /// Opens the history as ``openForReading()`` does, for commands that work without one. Returns nil if neither the
    /// user nor the daemon names a directory and the default directory has no history.
    func openForReadingIfPresent() async throws(CLIError) -> PowerHistory? {
        var found = self
        if history == nil { found.history = await Self.directoryOfDaemon() }
        return try found.openIfPresent()
    }

    /// Opens the history for reading, in the directory of `--history` or in the default one. Returns nil if the user
    /// names no directory and the default one has no history, for commands that work without one.
    func openIfPresent() throws(CLIError) -> PowerHistory? {
        do throws(HistoryError) {
            return try PowerHistory(history ?? PowerHistory.defaultDirectory(), role: .reader, complain: printError)
        } catch {
            // If the user names a directory, a missing history is an error.
            if error.reason == .absent, history == nil { return nil }
            throw CLIError(error)
        }
    }

    /// Returns the plugs' latest counter readings from the running daemon, whose history is up to ten minutes older.
    static func latestCounters() async -> [PlugID: CounterReading] {
        guard !DaemonSocket.isDeclined else { return [:] }
        let daemon = DaemonClient(path: DaemonSocket.path())
        guard daemon.isThere, let house = try? await daemon.read(HouseRecord.self, "/api/v1/house") else { return [:] }
        return house.plugs.compactMap(CounterReading.init).reduce(into: [:]) { $0[$1.plug] = $1 }
    }

    private struct Health: Decodable {
        var history: String?
    }

    /// Returns the directory of the running daemon's history; nil without a daemon, or if it keeps no history.
    private static func directoryOfDaemon() async -> String? {
        guard !DaemonSocket.isDeclined else { return nil }
        let daemon = DaemonClient(path: DaemonSocket.path())
        guard daemon.isThere else { return nil }
        return try? await daemon.read(Health.self, "/health").history
    }
}

extension CounterReading {
    /// The reading of a plug's record; nil without a reading. Its boot is not known.
    fileprivate init?(_ plug: PlugRecord) {
        guard let id = plug.id.flatMap(PlugID.init(rawValue:)), let reading = plug.reading,
            let time = WallTime(iso8601: reading.at), let boot = BootID(bytes: [UInt8](repeating: 0, count: 16)),
            let milliwattHours = UInt64(exactly: (reading.activeEnergy * 1000).rounded())
        else { return nil }
        self.init(
            plug: id, boot: boot, origin: time.nanosecondsSince1970 / 1_000_000, milliseconds: 0,
            milliwattHours: milliwattHours)
    }
}

/// Returns the names without duplicates. The name of a plug and its id count as the same name.
func once(_ names: [String], in history: PowerHistory?) -> [String] {
    var seen: Set<String> = []
    return names.filter { name in
        // An error in a name is reported when the plug is read.
        let known = try? history?.plug(meantBy: name)
        return seen.insert(known.map { "\($0.id)" } ?? name).inserted
    }
}

extension PowerHistory {
    /// Returns the plug with this name. The name of a plug that is paired with this controller means only that plug.
    func plug(meantBy name: String) throws(HistoryError) -> HistoryPlug {
        try plug(named: name, paired: (try? PairedPlugs().names()) ?? [:])
    }
}

extension CLIError {
    init(_ error: HistoryError) { self.init("\(error)" + (error.hint.map { "\nhint: \($0)" } ?? "")) }
}

extension Tariff {
    /// Reads a tariff file. Without `file`, reads the user's own file, and returns nil if that one is missing.
    ///
    /// - Throws: see `TariffStore.read()`; `CLIError` if `file` is missing.
    static func read(_ file: String?) throws -> Tariff? {
        let store = TariffStore(path: file)
        let tariff = try store.read()
        if tariff == nil, file != nil {
            throw CLIError("the tariff file \(store.path) does not exist\nhint: see `plugctl help tariff`")
        }
        return tariff
    }
}
