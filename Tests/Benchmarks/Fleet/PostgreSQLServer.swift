import Foundation
import HistoryDelivery
import LinuxSystem
import PostgreSQL
import ProtocolCore

/// A temporary PostgreSQL server with synchronous commits, on all cores.
struct PostgreSQLServer {
    private static let programs = "/usr/lib/postgresql/15/bin/"

    /// The folder of its data and its socket.
    let folder: String
    let port = Int.random(in: 20_000..<30_000)
    private let process: ChildProcess

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "postgresql-\(getpid())").path
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // PostgreSQL refuses to run as root.
        let user = getuid() == 0 ? ["--reuid", "postgres", "--regid", "postgres", "--clear-groups"] : []
        if getuid() == 0 {
            try Self.run("/usr/bin/chown", ["postgres:postgres", folder])
            // The temporary folder is private. With o+x the user postgres can pass through it, but not list it.
            try Self.run("/usr/bin/chmod", ["o+x", FileManager.default.temporaryDirectory.path])
        }
        func program(_ name: String) -> [String] { user + ["env", "-C", folder, Self.programs + name] }
        try Self.run(
            "/usr/bin/setpriv",
            program("initdb") + [
                "-D", folder + "/data", "--auth", "trust", "--username", "smartplug", "--locale", "C.UTF-8",
            ])
        let settings = [
            "listen_addresses=", "unix_socket_directories=\(folder)", "port=\(port)", "shared_buffers=512MB",
            "max_wal_size=8GB", "checkpoint_timeout=30min", "log_min_messages=fatal",
        ]
        process = try ChildProcess(
            "/usr/bin/taskset",
            ["--cpu-list", "0-\(ProcessInfo.processInfo.processorCount - 1)", "setpriv"] + program("postgres")
                + ["-D", folder + "/data"] + settings.flatMap { ["-c", $0] })
        for _ in 0..<300 {
            if (try? connection(to: "postgres")) != nil { return }
            Thread.sleep(forTimeInterval: 0.1)
        }
        throw BenchmarkError("PostgreSQL does not answer within 30 s")
    }

    func stop() {
        kill(process.id, SIGINT)
        process.finish()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func connection(to database: String) throws -> PostgreSQLConnection {
        let connection = PostgreSQLConnection(patience: .seconds(300))
        try connection.connect(PostgreSQLSettings(host: folder, port: port, database: database))
        return connection
    }

    /// Recreates the database with its tables and without rows.
    func makeEmpty() throws {
        let owner = try connection(to: "postgres")
        try owner.rows("DROP DATABASE IF EXISTS smartplug WITH (FORCE)")
        try owner.rows("CREATE DATABASE smartplug")
        try owner.rows("CHECKPOINT")
        let link = try connection(to: "smartplug")
        for statements in ["BEGIN", DatabaseSchema.text, "COMMIT"] { try link.rows(statements) }
    }

    func number(_ query: String) throws -> Int {
        try connection(to: "smartplug").value(query).flatMap { Int($0) } ?? 0
    }

    /// Exports all samples to a file, loads the file into a second table with the same definition, and returns the
    /// seconds that psql needs to load it.
    ///
    /// - Parameter file: the path of the temporary file.
    func copiedSamples(into file: String) throws -> Double {
        let link = try connection(to: "smartplug")
        let months = try link.rows(
            "SELECT min(date_trunc('month', at)), max(date_trunc('month', at)) + interval '1 month' FROM smartplug.samples"
        )
        guard let first = months.first?[0], let last = months.first?[1] else {
            throw BenchmarkError("the database has no samples to copy")
        }
        try link.rows("CREATE TABLE reference (LIKE smartplug.samples INCLUDING ALL) PARTITION BY RANGE (at)")
        try link.rows("CREATE TABLE reference_other PARTITION OF reference DEFAULT")
        try link.rows("CREATE TABLE reference_month PARTITION OF reference FOR VALUES FROM ('\(first)') TO ('\(last)')")
        try psql("\\copy (SELECT * FROM smartplug.samples ORDER BY plug, at) TO '\(file)'")
        try link.rows("CHECKPOINT")
        let began = BootClock.now
        try psql("\\copy reference FROM '\(file)'")
        return Double((BootClock.now - began).wholeNanoseconds) / 1e9
    }

    private func psql(_ command: String) throws {
        try Self.run(
            Self.programs + "psql",
            [
                "-X", "-q", "-h", folder, "-p", "\(port)", "-U", "smartplug", "-d", "smartplug", "-v",
                "ON_ERROR_STOP=1", "-c", command,
            ])
    }

    private static func run(_ path: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkError("\(path) ended with \(process.terminationStatus)")
        }
    }
}
