import Foundation

/// Counts the instructions of a plug and of a house for a command, an event and a reading, next to those of a bare NIO
/// server with TLS for an echo.
func instructionFigures(_ setting: Setting) async throws -> [Figure] {
    let counts = InstructionCounts(few: setting.times(300, few: 60))
    let echo = Figure.Reference(name: "bare NIO TLS echo", value: try await counts.echo() / 1000)
    let (command, event) = try await counts.plug()
    let reading = try await counts.house(seconds: setting.times(20, few: 8))
    return [
        Figure("command, thousand instructions of the plug", command / 1000, "", against: echo),
        Figure("event, thousand instructions of the plug", event / 1000, "", against: echo),
        Figure(
            "reading, thousand instructions of the rules' process", reading / 1000, "", against: echo, .ratioAtMost(3)),
    ]
}

/// Each count is the difference between a long run and a short one, which excludes the start.
private struct InstructionCounts {
    /// The number of repetitions in a short run. A long run has three times as many.
    let few: Int
    private var more: Int { 2 * few }

    init(few: Int) { self.few = few }

    /// Returns the instructions per echo.
    func echo() async throws -> Double {
        let short = try await echoes(few)
        return (try await echoes(few + more) - short) / Double(more)
    }

    private func echoes(_ count: Int) async throws -> Double {
        let server = try start(.echo, [])
        guard let port = server.process.line().flatMap({ Int($0) }) else {
            throw BenchmarkError("the echo did not start")
        }
        try await EchoClient(port: port).withRoundTrips { roundTrip in
            for _ in 0..<count { try await roundTrip() }
        }
        return try server.count()
    }

    /// Returns the instructions of the plug per command and per event, with one follower.
    func plug() async throws -> (command: Double, event: Double) {
        let short = try await plug(commands: few, pushes: few)
        let commands = try await plug(commands: few + more, pushes: few) - short
        let events = try await plug(commands: few, pushes: few + more) - short
        return (commands / Double(more), events / Double(more * MeasuredPlug.eventsAPush))
    }

    private func plug(commands: Int, pushes: Int) async throws -> Double {
        let name = "Counted \(getpid())"
        let file = FileManager.default.temporaryDirectory.appending(path: "instructions-plug-\(getpid())").path
        var plug = try await FollowedPeer(named: name, followsState: false, countingIn: file)
        for _ in 0..<commands { _ = try await plug.command() }
        for _ in 0..<pushes { _ = try await plug.push() }
        return try await plug.finish()
    }

    /// Returns the instructions of a process with rules per reading of a plug.
    func house(seconds: Int) async throws -> Double {
        let name = "Counted \(getpid())"
        let directory = FileManager.default.temporaryDirectory.appending(path: "house-\(getpid())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let plugs = try MeasuredHouse.plugs.map { plug in
            try Peer.start(.plug, [MeasuredHouse.name(plug, of: name), "\(directory)/\(plug)", "1000"])
        }
        defer { for plug in plugs { plug.finish() } }
        let counts = try [seconds, 3 * seconds].map { length in
            let house = try start(.house, [name, directory, "\(directory)/house-\(length)"])
            guard house.process.line() != nil else { throw BenchmarkError("the rules do not follow the plugs") }
            Thread.sleep(forTimeInterval: Double(length))
            try house.process.write([MeasuredHouse.count])
            guard let readings = house.process.line().flatMap({ Double($0) }) else {
                throw BenchmarkError("the rules have ended")
            }
            return (readings: readings, instructions: try house.count())
        }
        return (counts[1].instructions - counts[0].instructions) / (counts[1].readings - counts[0].readings)
    }

    private func start(_ part: Peer.Part, _ arguments: [String]) throws -> CountedProcess {
        let file = FileManager.default.temporaryDirectory.appending(path: "instructions-\(part)-\(getpid())").path
        return try CountedProcess(Peer.program(), Peer.words(part, arguments), writing: file)
    }
}
