import DurableFiles
import GRDB
import Metering

/// A part of the history as an SQLite file that other programs read: tables `energy`, `sample` and `trace`.
///
/// It is written beside its place as `NAME.new`: what bears the name is whole.
public struct HistoryExport: Sendable {
    private let queue: DatabaseQueue
    private let path: String
    private var unfinished: String { path + ".new" }

    /// Makes the file, lets the body fill it, and gives it its name. Where that fails, nothing is left behind.
    ///
    /// - Throws: ``HistoryError``, also where there is a file of that name (its reason then is a `FileError` with
    ///   `SystemError.alreadyExists`): nothing is overwritten.
    public static func write(
        _ path: String, _ body: (HistoryExport) throws(HistoryError) -> Void
    ) throws(HistoryError) {
        guard !Opening.isThere(path) else { throw HistoryError(exporting: .alreadyExists, path) }
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
        // SQLite would not say why it cannot make a file.
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
        // A file that is not finished is worth nothing after a power cut, so that nothing is waited for before its end.
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

    /// - Parameters:
    ///   - energies: with what each cost, and grams of CO2, where that is known.
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

    /// - Parameters:
    ///   - span: milliseconds since 1970, both included.
    ///   - progress: called now and then with how much is done, and of how much.
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

    /// What rules did and did not do.
    ///
    /// - Parameter span: milliseconds since 1970, both included.
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

    /// A day: a year of samples is too much to hold.
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
    /// "cannot write PATH: …"
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
