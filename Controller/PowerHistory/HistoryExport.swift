import GRDB
import LinuxSystem
import Metering

/// An export of a part of the history to an SQLite file for other programs, with the tables `energy`, `sample` and
/// `trace`.
///
/// The export is written to `NAME.new` and renamed at the end, so that a file with the final name is complete.
public struct HistoryExport: Sendable {
    private let queue: DatabaseQueue
    private let path: String
    private var unfinished: String { path + ".new" }

    /// Creates the file, calls the body to fill it, and renames it. If a step fails, the unfinished file is removed.
    ///
    /// - Throws: ``HistoryError``. An existing file is not overwritten: the reason is then a `FileError` with
    ///   `SystemError.alreadyExists`.
    public static func write(
        _ path: String, _ body: (HistoryExport) throws(HistoryError) -> Void
    ) throws(HistoryError) {
        guard !DatabaseOpener.isThere(path) else { throw HistoryError(exporting: .alreadyExists, path) }
        do throws(HistoryError) {
            let export = try HistoryExport(path)
            try body(export)
            try export.finish()
        } catch {
            try? FileStore().removeIfPresent(path + ".new")
            throw error
        }
    }

    private init(_ path: String) throws(HistoryError) {
        self.path = path
        // The file is created before SQLite opens it, because SQLite does not report why it cannot create a file.
        do throws(FileError) {
            try FileStore().removeIfPresent(path + ".new")
        } catch {
            throw HistoryError(.file(error), path)
        }
        do throws(SystemError) {
            let calls = LinuxFileCalls()
            calls.close(try calls.open(path + ".new", .creating(mode: 0o644)))
        } catch {
            throw HistoryError(exporting: error, path)
        }
        var configuration = Configuration()
        // An unfinished file has no use after a power cut, so no write waits for the disk before the end.
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        }
        do {
            queue = try DatabaseQueue(path: path + ".new", configuration: configuration)
            try queue.write { database in
                try database.execute(
                    sql: """
                        CREATE TABLE energy(plug TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
                            activeEnergy REAL NOT NULL, estimated REAL NOT NULL, covered REAL NOT NULL,
                            meanActivePower REAL, minActivePower REAL, maxActivePower REAL, cost REAL, co2 REAL,
                            PRIMARY KEY(plug, start)) WITHOUT ROWID;
                        CREATE TABLE sample(plug TEXT NOT NULL, at REAL NOT NULL, activePower REAL NOT NULL,
                            voltageRMS REAL, currentRMS REAL, PRIMARY KEY(plug, at)) WITHOUT ROWID;
                        CREATE TABLE trace(id TEXT PRIMARY KEY, rule TEXT NOT NULL, at REAL NOT NULL, fired INTEGER NOT NULL,
                            json TEXT NOT NULL) WITHOUT ROWID;
                        """)
            }
        } catch {
            throw HistoryError(exporting: error, path)
        }
    }

    private func finish() throws(HistoryError) {
        do { try queue.close() } catch { throw HistoryError(exporting: error, path) }
        do throws(SystemError) {
            let calls = LinuxFileCalls()
            let descriptor = try calls.open(unfinished, .reading)
            defer { calls.close(descriptor) }
            try calls.synchronize(descriptor)
        } catch {
            throw HistoryError(exporting: error, path)
        }
        do throws(FileError) {
            try FileStore().rename(unfinished, to: path)
        } catch {
            throw HistoryError(.file(error), path)
        }
    }

    /// Adds energies of a plug.
    ///
    /// - Parameters:
    ///   - plug: The plug's name in the export.
    ///   - energies: Each with its cost and grams of CO2, or nil if these are unknown.
    public func add(_ plug: String, _ energies: [(PeriodEnergy, cost: Double?, co2: Double?)]) throws(HistoryError) {
        do {
            try queue.write { database in
                let insert = try database.makeStatement(
                    sql: "INSERT OR REPLACE INTO energy VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
                for (energy, cost, co2) in energies {
                    try insert.execute(arguments: [
                        plug, energy.period.from, energy.period.to, energy.milliwattHours / 1000,
                        energy.estimatedMilliwattHours / 1000, Double(energy.coveredMilliseconds) / 1000, energy.mean,
                        energy.least, energy.greatest, cost, co2,
                    ])
                }
            }
        } catch {
            throw HistoryError(exporting: error, path)
        }
    }

    /// Copies the samples of a plug.
    ///
    /// - Parameters:
    ///   - span: Milliseconds since 1970, both ends included.
    ///   - progress: Called after each day of samples, with the length of the copied part of the span and the length of
    ///     the whole span, in milliseconds.
    public func add(
        samplesOf plug: HistoryPlug, from history: PowerHistory, over span: ClosedRange<Int64>,
        progress: (Int, Int) -> Void
    ) throws(HistoryError) {
        guard let known = plug.span, known.overlaps(span) else { return }
        let wanted = known.clamped(to: span)
        let total = Int(wanted.upperBound - wanted.lowerBound + 1)
        for begin in stride(from: wanted.lowerBound, through: wanted.upperBound, by: Self.piece) {
            var samples: [(at: Int64, sample: Sample)] = []
            let end = min(begin + Int64(Self.piece) - 1, wanted.upperBound)
            try history.samples(of: plug.id, from: begin, to: end) { samples.append(($0, $1)) }
            try add(plug.title, samples)
            progress(Int(end - wanted.lowerBound + 1), total)
        }
    }

    /// Adds the traces of all rules.
    ///
    /// - Parameter span: Milliseconds since 1970, both ends included.
    public func add(tracesFrom history: PowerHistory, over span: ClosedRange<Int64>) throws(HistoryError) {
        let traces = try history.traces(of: nil, from: span.lowerBound, to: span.upperBound)
        do {
            try queue.write { database in
                let insert = try database.makeStatement(sql: "INSERT OR REPLACE INTO trace VALUES(?, ?, ?, ?, ?)")
                for trace in traces {
                    try insert.execute(arguments: [
                        trace.id, trace.rule, Double(trace.at) / 1000, trace.isFiring ? 1 : 0, trace.json,
                    ])
                }
            }
        } catch {
            throw HistoryError(exporting: error, path)
        }
    }

    /// The span of samples that is in memory at a time: one day, in milliseconds. The samples of a year would need too
    /// much memory.
    private static let piece = 86_400_000

    private func add(_ plug: String, _ samples: [(at: Int64, sample: Sample)]) throws(HistoryError) {
        do {
            try queue.write { database in
                let insert = try database.makeStatement(sql: "INSERT OR REPLACE INTO sample VALUES(?, ?, ?, ?, ?)")
                for (at, sample) in samples {
                    try insert.execute(arguments: [
                        plug, Double(at) / 1000, sample.activePower, sample.voltageRMS, sample.currentRMS,
                    ])
                }
            }
        } catch {
            throw HistoryError(exporting: error, path)
        }
    }
}

extension HistoryError {
    /// A failed write, with the description "cannot write PATH: …".
    fileprivate init(exporting error: SystemError, _ path: String) {
        self.init(.file(FileError(.write, path, .system(error))), path)
    }

    fileprivate init(exporting error: any Error, _ path: String) {
        guard let error = error as? DatabaseError else {
            self.init(.database(code: 1, message: "\(error)"), path)
            return
        }
        switch error.resultCode {
        case .SQLITE_FULL: self.init(exporting: SystemError.noSpace, path)
        case .SQLITE_READONLY: self.init(exporting: SystemError.readOnly, path)
        case .SQLITE_IOERR, .SQLITE_CANTOPEN: self.init(exporting: SystemError.inputOutput, path)
        default: self.init(.database(code: error.extendedResultCode.rawValue, message: error.message ?? ""), path)
        }
    }
}
