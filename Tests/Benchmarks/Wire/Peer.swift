import Foundation

/// The other process of a measurement: this program again, told which part to play. It lives until its standard input ends.
enum Peer {
    static let flag = "--peer"

    enum Part: String {
        case echo, plug
    }

    static func start(_ part: Part, _ arguments: [String] = []) throws -> ChildProcess {
        try ChildProcess("/proc/self/exe", [flag, part.rawValue] + arguments)
    }

    static func run(_ arguments: ArraySlice<String>) async throws {
        switch (arguments.first.flatMap(Part.init), arguments.dropFirst().first) {
        case (.echo, _): try await EchoServer.run()
        case (.plug, let name?): try await MeasuredPlug.run(named: name)
        case (.plug, nil), (nil, _): throw WrongUsage("\(flag) takes echo, or plug and a name")
        }
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
