import Foundation
import LinuxNetwork
import LinuxSystem
import Logging
import ProtocolCore
import ServiceDiscovery

/// Service discovery on a host of the measured LAN, in its own process. Prints its progress as JSON objects and runs
/// until it is killed.
enum MeasuredDiscovery {
    private static let type: ServiceType = "_smartplug._tcp"

    /// Registers `count` services. Prints a line with the time of the first registration, and a line when all services
    /// are announced.
    static func publish(_ count: Int) async throws {
        let discovery = start()
        // Wait until the interfaces are known and the memory of the start is stable.
        try await Task.sleep(for: .seconds(2))
        let services = try (0..<count).map { number in
            try ServiceRegistration(
                name: "Plug \(number)", type: type, hostName: "plugs-\(getpid())", port: UInt16(4000 + number),
                txt: TXTRecord([
                    "txtvers": "1", "id": String(number, radix: 16), "pv": "1", "pair": "0",
                    "caps": "relay,button,meter",
                ]))
        }
        say(#"{"event": "registering", "at": \#(monotonicSeconds)}"#)
        var registrations: [Registration] = []
        for service in services { registrations.append(try await discovery.register(service)) }
        for registration in registrations { for await _ in registration.names { break } }
        say(#"{"event": "announced"}"#)
        try await Task.sleep(for: .seconds(36_000))
    }

    /// Resolves `count` services and prints the time from a cold start in seconds.
    static func browse(_ count: Int) async throws {
        let began = BootClock.now
        let discovery = start()
        await withTaskGroup { group in
            var found = 0
            for await event in discovery.browse(type) {
                guard case .found(let identity, txt: _) = event.change else { continue }
                group.addTask { for await case .resolved in discovery.resolve(identity) { return } }
                found += 1
                if found == count { break }
            }
        }
        say(#"{"event": "resolved", "seconds": \#((BootClock.now - began).inSeconds)}"#)
        try await Task.sleep(for: .seconds(36_000))
    }

    private static func start() -> Discovery {
        Discovery(logger: Logger(label: "discovery") { _ in SwiftLogNoOpLogHandler() })
    }

    /// The clock of Python's time.monotonic(), in seconds.
    private static var monotonicSeconds: Double {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
