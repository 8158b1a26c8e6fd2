import ArgumentParser
import Foundation
import LinuxNetwork
import LinuxSystem
import Logging
import PlugClient
import PlugModel
import PlugTransport

/// Selects the network and the time limits of a search.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: """
            Use only this network interface; may be given several times. (default: those in SMARTPLUG_INTERFACE, else all \
            interfaces that support multicast)
            """)
    var interface: [String] = []

    @Option(
        help: """
            Also search this domain, such as example.org, with the name servers of this machine; "auto" for the domains that \
            the network recommends; may be given several times. (default: those in SMARTPLUG_DOMAIN)
            """)
    var domain: [SearchedDomain] = []

    @Option(parsing: .unconditional, help: "How long to search for a plug by name.")
    var wait = TimeSpan(.seconds(3))

    @Option(
        help: """
            How long to wait for an answer from a plug, at least 1s. (default: 5s for on, off, toggle, dim and identify, \
            otherwise 60s)
            """)
    var timeout: TimeSpan?

    @Option(
        parsing: .unconditional,
        help: """
            The name of this controller, which plugs report as the cause of its commands. (default: this machine's name)
            """)
    var controller: String?

    @Flag(help: "Print debug logs to stderr.")
    var verbose = false

    func validate() throws {
        guard timeout.map({ $0.duration >= .seconds(1) }) ?? true else {
            throw ValidationError("--timeout must be at least 1s")
        }
        guard controller.map({ (1...63).contains($0.utf8.count) }) ?? true else {
            throw ValidationError("--controller must have 1 to 63 bytes of UTF-8")
        }
        if let wrong = Self.list("SMARTPLUG_DOMAIN").first(where: { SearchedDomain(argument: $0) == nil }) {
            throw ValidationError("SMARTPLUG_DOMAIN has \"\(wrong)\", which is not the name of a domain")
        }
    }

    /// Reports the first selected interface that does not exist, and throws `ExitCode.failure`. A program that keeps
    /// running does not call this, because the interface may appear later.
    func checkInterfaces() throws {
        let known = interfaceNames()
        guard let missing = interfaces.subtracting(known).min() else { return }
        let hint = "this machine has \(known.joined(separator: ", "))"
        printError("the network interface \"\(missing)\" does not exist\nhint: \(hint)")
        throw ExitCode.failure
    }

    /// How long to wait for the answer to a question.
    var answerTime: TimeSpan { timeout ?? TimeSpan(.seconds(60)) }
    /// How long to wait for the answer to a command. It is short, because a user waits for the result.
    var commandTime: TimeSpan { timeout ?? TimeSpan(.seconds(5)) }

    /// Runs the body with a client, and stops the client afterwards. Errors are printed to standard error.
    ///
    /// - Parameters:
    ///   - connects: False for a body that only browses and therefore needs no key.
    ///   - endsItself: False for a body that runs until it is interrupted. For any other body, Control-C and SIGTERM
    ///     end the process at once.
    ///   - address: The address of the only plug; nil to search plugs.
    func withClient(
        connects: Bool = true, endsItself: Bool = true, at address: PlugAddress? = nil,
        _ body: (PlugClient) async throws -> Void
    ) async throws {
        try await saying {
            let identity = try connects ? TransportIdentity.ofThisController() : TransportIdentity()
            let log = try connects ? keyLog() : nil
            if endsItself { try checkInterfaces() }
            guard endsItself else {
                return try await withClient(identity, isOwn: connects, keyLog: log, at: address, body)
            }
            try await endingAtOnce { try await withClient(identity, isOwn: connects, keyLog: log, at: address, body) }
        }
    }

    /// Runs the body with a client that authenticates as `identity`. Errors are thrown.
    ///
    /// - Parameters:
    ///   - isOwn: True if `identity` is this controller's own, whose key may be rotated while the client runs.
    ///   - address: The address of the only plug; nil to search plugs.
    func withClient(
        _ identity: TransportIdentity, isOwn: Bool = true, keyLog: KeyLog? = nil, at address: PlugAddress? = nil,
        _ body: (PlugClient) async throws -> Void
    ) async throws {
        let client = PlugClient(
            name: controller ?? machineName, identity: identity,
            renewed: { isOwn ? .renewedOfThisController() : nil }, keyLog: keyLog, interfaces: interfaces,
            domains: domains.compactMap(\.name), usesRecommendedDomains: domains.contains(.recommended),
            address: address, logger: logger)
        let result = await Result.catching { try await body(client) }
        await client.stop()
        try result.get()
    }

    /// A logger to standard error: warnings and errors, and with `--verbose` also debug messages.
    var logger: Logger {
        var logger = Logger(label: "plugctl") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .debug : .warning
        return logger
    }

    /// The network interfaces to use.
    var filter: InterfaceFilter { interfaces.isEmpty ? .multicastCapable : .named(interfaces) }

    /// Runs the body when the plug with that name is connected. A failed connection is reported, and retried if that
    /// may help.
    func withConnected(
        _ name: String, at address: PlugAddress? = nil,
        _ body: (FollowedPlug, PlugDescription) async throws -> Void
    ) async throws {
        try await withClient(at: address) { client in
            let plug = client.follow(try await client.find(name, within: wait.duration), after: nil, stateOptions: nil)
            try await answered(by: plug, within: answerTime) {
                for await report in plug.reports {
                    if case .disconnected(let reason, _) = report.update { try reportDisconnection(plug.name, reason) }
                    guard case .connected(let description) = report.update else { continue }
                    try await body(plug, description)
                    break
                }
            }
            await plug.stop()
        }
    }

    /// Opens a TLS key log if `SSLKEYLOGFILE` is set, as other TLS programs do.
    private func keyLog() throws -> KeyLog? {
        guard let path = ProcessInfo.processInfo.environment["SSLKEYLOGFILE"], !path.isEmpty else { return nil }
        let log: KeyLog
        do throws(FileError) { log = try KeyLog(path) } catch { throw CLIError(error) }
        printError(
            """
            warning: the TLS keys of this program's connections are written to \(path); they decrypt recorded traffic
            hint: unset SSLKEYLOGFILE and remove the file after the packet trace
            """)
        return log
    }

    /// True if the user selected interfaces, domains or a controller. The daemon may use different ones.
    var isParticular: Bool { !interfaces.isEmpty || !domains.isEmpty || controller != nil }

    private var machineName: String {
        String(decoding: ProcessInfo.processInfo.hostName.utf8.prefix(63), as: UTF8.self)
    }

    private var interfaces: Set<String> {
        Set(interface.isEmpty ? Self.list("SMARTPLUG_INTERFACE") : interface)
    }

    private var domains: [SearchedDomain] {
        domain.isEmpty ? Self.list("SMARTPLUG_DOMAIN").compactMap(SearchedDomain.init(argument:)) : domain
    }

    /// The words of an environment variable, which commas separate.
    private static func list(_ variable: String) -> [String] {
        ProcessInfo.processInfo.environment[variable]?.split(separator: ",").map(String.init) ?? []
    }
}

/// Runs the body. If the body throws an error, prints it to standard error and exits with status 1. An `ExitCode` is
/// rethrown without output, and a `CancellationError` is ignored.
func saying(_ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let code as ExitCode {
        throw code
    } catch is CancellationError {
        return
    } catch let error as FileError {
        printError("\(CLIError(error))")
        throw ExitCode.failure
    } catch {
        printError("\(error)")
        throw ExitCode.failure
    }
}

extension Result where Failure == any Error {
    fileprivate static func catching(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
