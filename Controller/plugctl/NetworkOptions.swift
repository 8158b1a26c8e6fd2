import ArgumentParser
import Foundation
import LinuxNetwork
import Logging
import PlugClient

/// Which network, and how long to look for a plug.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: """
            Only this network interface; may be given several times. (default: those in SMARTPLUG_INTERFACE, else all \
            that can multicast)
            """)
    var interface: [String] = []

    @Option(help: "How long to look for a plug by its name.")
    var wait = TimeSpan(.seconds(3))

    @Option(help: "What this controller is called; plugs show it as the cause of its commands.")
    var controller = hostName() ?? "plugctl"

    @Flag(help: "Say on standard error what happens below.")
    var verbose = false

    func validate() throws {
        guard (1...63).contains(controller.utf8.count) else {
            throw ValidationError("--controller has 1 to 63 bytes of UTF-8, as a plug's name has")
        }
    }

    /// Runs the body with a client that is stopped in order afterwards. What goes wrong is said on standard error.
    func withClient(_ body: (PlugClient) async throws -> Void) async throws {
        var logger = Logger(label: "plugctl") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .debug : .warning
        do {
            let client = PlugClient(name: controller, interfaces: interfaces, logger: logger)
            let result = await Result.catching { try await body(client) }
            await client.stop()
            try result.get()
        } catch let code as ExitCode {
            throw code
        } catch is CancellationError {
            return
        } catch {
            complain("\(error)")
            throw ExitCode.failure
        }
    }

    private var interfaces: Set<String> {
        let named = ProcessInfo.processInfo.environment["SMARTPLUG_INTERFACE"]
        guard interface.isEmpty, let named else { return Set(interface) }
        return Set(named.split(separator: ",").map(String.init))
    }
}

extension Result where Failure == any Error {
    fileprivate static func catching(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
