import Foundation

/// The other process of a measurement: this program again, told which part to play. It lives until its standard input ends.
enum Peer {
    static let flag = "--peer"

    enum Part: String {
        case echo, plug, publish, browse
    }

    static func start(_ part: Part, _ arguments: [String] = []) throws -> ChildProcess {
        try ChildProcess("/proc/self/exe", [flag, part.rawValue] + arguments)
    }

    static func run(_ arguments: ArraySlice<String>) async throws {
        switch (arguments.first.flatMap(Part.init), arguments.dropFirst().first) {
        case (.echo, _): try await EchoServer.run()
        case (.plug, let name?): try await MeasuredPlug.run(named: name)
        case (.publish, let count?): try await MeasuredDiscovery.publish(number(count))
        case (.browse, let count?): try await MeasuredDiscovery.browse(number(count))
        case (.plug, nil), (.publish, nil), (.browse, nil), (nil, _):
            throw WrongUsage("\(flag) takes echo, plug and a name, or publish or browse and a number")
        }
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text) else { throw WrongUsage("\(text) is no number") }
        return number
    }
}

/// What arrives on standard input, read by a thread of its own; ends with it.
func standardInput() -> AsyncStream<UInt8> {
    AsyncStream { continuation in
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 64)
            while case let count = read(0, &buffer, buffer.count), count > 0 {
                for byte in buffer[..<count] { continuation.yield(byte) }
            }
            continuation.finish()
        }
    }
}
