import ArgumentParser
import DurableFiles
import Foundation
import LinuxNetwork
import Logging
import PlugClient
import PlugModel
import PlugTransport

/// Which network, and how long to look for a plug.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: """
            Only this network interface; may be given several times. (default: those in SMARTPLUG_INTERFACE, else all \
            that can multicast)
            """)
    var interface: [String] = []

    @Option(parsing: .unconditional, help: "How long to look for a plug by its name.")
    var wait = TimeSpan(.seconds(3))

    @Option(help: "How long to wait for a plug's answer, at least 1s.")
    var timeout = TimeSpan(.seconds(60))

    @Option(
        parsing: .unconditional,
        help: """
            What this controller is called; plugs show it as the cause of its commands. (default: this machine's name)
            """)
    var controller: String?

    @Flag(help: "Say on standard error what happens below.")
    var verbose = false

    func validate() throws {
        guard timeout.duration >= .seconds(1) else { throw ValidationError("--timeout is at least 1s") }
        guard controller.map({ (1...63).contains($0.utf8.count) }) ?? true else {
            throw ValidationError("--controller has 1 to 63 bytes of UTF-8, as a plug's name has")
        }
    }

    /// Runs the body with a client that is stopped in order afterwards. What goes wrong is said on standard error.
    ///
    /// - Parameters:
    ///   - connects: false for a body that only looks around, which nobody needs a key for.
    ///   - endsItself: false for a body that runs until it is interrupted. Control-C and SIGTERM end the process of any other at once.
    func withClient(
        connects: Bool = true, endsItself: Bool = true, _ body: (PlugClient) async throws -> Void
    ) async throws {
        try await saying {
            let identity = try connects ? TransportIdentity.ofThisController() : TransportIdentity()
            let log = try connects ? keyLog() : nil
            guard endsItself else {
                return try await withClient(identity, isOwn: connects, keyLog: log, body)
            }
            try await endingAtOnce { try await withClient(identity, isOwn: connects, keyLog: log, body) }
        }
    }

    /// The same with a client that proves itself with `identity`; what goes wrong is thrown.
    ///
    /// - Parameter isOwn: it is this controller's, which may be rotated meanwhile.
    func withClient(
        _ identity: TransportIdentity, isOwn: Bool = true, keyLog: KeyLog? = nil,
        _ body: (PlugClient) async throws -> Void
    ) async throws {
        let client = PlugClient(
            name: controller ?? machineName, identity: identity,
            renewed: { isOwn ? .renewedOfThisController() : nil }, keyLog: keyLog, interfaces: interfaces,
            logger: logger)
        let result = await Result.catching { try await body(client) }
        await client.stop()
        try result.get()
    }

    /// Says on standard error what happens below, warnings alone where nobody asked for more.
    var logger: Logger {
        var logger = Logger(label: "plugctl") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .debug : .warning
        return logger
    }

    /// Where to work.
    var filter: InterfaceFilter { interfaces.isEmpty ? .multicastCapable : .named(interfaces) }

    /// Runs the body when the plug of that name is connected. What keeps it away is said, and waited out where that helps.
    func withConnected(_ name: String, _ body: (FollowedPlug, PlugDescription) async throws -> Void) async throws {
        try await withClient { client in
            let plug = client.follow(try await client.find(name, within: wait.duration), after: nil, stateOptions: nil)
            try await answered(by: plug, within: timeout) {
                for await report in plug.reports {
                    if case .disconnected(let reason, _) = report.update { try sayAway(plug.name, reason) }
                    guard case .connected(let description) = report.update else { continue }
                    try await body(plug, description)
                    break
                }
            }
            await plug.stop()
        }
    }

    /// Where the environment asks for one, as it does of other programs that speak TLS.
    private func keyLog() throws -> KeyLog? {
        guard let path = ProcessInfo.processInfo.environment["SSLKEYLOGFILE"], !path.isEmpty else { return nil }
        let log: KeyLog
        do throws(FileError) { log = try KeyLog(path) } catch { throw Complaint(error) }
        complain(
            """
            warning: the secrets of this program's connections go into \(path): whoever reads it can read what was said
            hint: unset SSLKEYLOGFILE when the packet trace is made, and remove the file
            """)
        return log
    }

    /// Whether somebody chose the way to the plugs: the daemon's may be another.
    var isParticular: Bool { !interfaces.isEmpty || controller != nil }

    private var machineName: String {
        String(decoding: ProcessInfo.processInfo.hostName.utf8.prefix(63), as: UTF8.self)
    }

    private var interfaces: Set<String> {
        guard interface.isEmpty, let named = ProcessInfo.processInfo.environment["SMARTPLUG_INTERFACE"] else {
            return Set(interface)
        }
        return Set(named.split(separator: ",").map(String.init))
    }
}

/// What goes wrong in the body is said on standard error, and ends the program with 1.
func saying(_ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let code as ExitCode {
        throw code
    } catch is CancellationError {
        return
    } catch {
        complain("\(error)")
        throw ExitCode.failure
    }
}

extension Result where Failure == any Error {
    fileprivate static func catching(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
