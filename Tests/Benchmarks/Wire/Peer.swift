import Foundation

/// The second process of a measurement: this program with `--peer` and a part. The parts `echo`, `bareTLS`, `plug` and
/// `house` run until their standard input ends, `publish` and `browse` until they are killed, and the others until their
/// work is done.
enum Peer {
    static let flag = "--peer"

    enum Part: String {
        case echo, plug, house, presses, bareTLS, strangers, matterStrangers, publish, browse, year
    }

    static func start(_ part: Part, _ arguments: [String] = []) throws -> ChildProcess {
        try ChildProcess(program(), words(part, arguments))
    }

    /// The path of this program.
    static func program() throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }

    /// The arguments of this program for a part.
    static func words(_ part: Part, _ arguments: [String]) -> [String] { [flag, part.rawValue] + arguments }

    static func run(_ arguments: ArraySlice<String>) async throws {
        let rest = Array(arguments.dropFirst())
        switch (arguments.first.flatMap(Part.init), rest.first, rest.compactMap(Int.init)) {
        case (.echo, _, _): try await EchoServer.run()
        case (.bareTLS, _, _): try await BareTLS.serve()
        case (.plug, let name?, let numbers) where rest.count == 3 && numbers.count == 1:
            try await MeasuredPlug.run(named: name, in: rest[1], metering: .milliseconds(numbers[0]))
        case (.house, let name?, _) where rest.count == 3:
            try await MeasuredHouse.run(following: name, states: rest[1], in: rest[2])
        case (.presses, let name?, let numbers) where rest.count == 4 && numbers.count == 1:
            try await PressedLine.run(plug: name, state: rest[1], pull: rest[2], count: numbers[0])
        case (.strangers, _, let numbers) where numbers.count == 2:
            try Strangers.run(port: numbers[0], count: numbers[1])
        case (.matterStrangers, let name?, let numbers) where rest.count == 3 && numbers.count == 2:
            try MatterStrangers.run(name, port: numbers[0], count: numbers[1])
        case (.publish, _, let numbers) where numbers.count == 1: try await MeasuredDiscovery.publish(numbers[0])
        case (.browse, _, let numbers) where numbers.count == 1: try await MeasuredDiscovery.browse(numbers[0])
        case (.year, let directory?, let numbers) where rest.count >= 2 && !numbers.isEmpty:
            try YearOfAHouse.make(in: directory, days: Int64(numbers[0]), plugs: Array(rest.dropFirst(2)))
        case (.plug, _, _), (.house, _, _), (.year, _, _), (.presses, _, _), (.strangers, _, _),
            (.matterStrangers, _, _),
            (.publish, _, _), (.browse, _, _), (nil, _, _):
            throw WrongUsage(
                """
                usage: \(flag) echo | bareTLS
                       \(flag) plug NAME DIRECTORY MILLISECONDS
                       \(flag) house NAME STATES DIRECTORY
                       \(flag) presses NAME DIRECTORY FILE COUNT
                       \(flag) strangers PORT COUNT
                       \(flag) matterStrangers pase | sigma1 PORT COUNT
                       \(flag) publish COUNT | browse COUNT
                       \(flag) year DIRECTORY DAYS [PLUG...]
                """)
        }
    }
}

/// Returns the bytes of standard input, which a separate thread reads. The stream ends at the end of the input.
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
