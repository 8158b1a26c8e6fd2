import Logging
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import LinuxNetwork

@Suite(
    "The log of discovery in a namespace",
    .enabled(if: PrivateNetwork.isAvailable, Comment(rawValue: PrivateNetwork.reason)))
struct DiscoveryLogTests {
    private struct Handler: LogHandler {
        let lines: AsyncStream<(level: Logger.Level, text: String)>.Continuation
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.yield((event.level, "\(event.message)")) }
    }

    @Test("An interface that appears and disappears is logged at debug level", .timeLimit(.minutes(1)))
    func interfaces() async throws {
        let network = try await PrivateNetwork()
        let (lines, told) = AsyncStream<(level: Logger.Level, text: String)>.makeStream()
        let logger = Logger(label: "test") { _ in Handler(lines: told) }
        let discovery = Discovery(interfaces: .named(["left"]), on: network.eventLoop, logger: logger)
        let browser = discovery.browse("_smartplug._tcp")
        try await network.connectedPair("left", "right")
        var isGone = false
        for await line in lines {
            switch line.text {
            case "using a network interface":
                #expect(line.level == .debug)
                try await network.ip("link del left")
            case "a network interface was removed":
                #expect(line.level == .debug)
                isGone = true
            case _: break
            }
            if isGone { break }
        }
        withExtendedLifetime(browser) {}
    }
}
