import Logging
import PlugClient
import PlugModel
import PlugTransport

/// The short examples of the documentation, so that they are compiled.
enum ShortExamples {
    static func turnOn() async throws {
        let client = PlugClient(name: "hall", identity: try .ofThisController(), logger: Logger(label: "hall"))
        let lamp = try await client.plug("Living Room Lamp")
        let answer = try await lamp.turn(on: true)
        print(answer.state.relayOn, answer.event ?? 0)
        await client.stop()
    }

    static func dimAndFollow(after cursor: Cursor) async throws {
        let client = PlugClient(name: "hall", identity: try .ofThisController(), logger: Logger(label: "hall"))
        let lamp = try await client.plug("Living Room Lamp")
        try await lamp.dim(to: DimLevel(percent: 30), over: .seconds(2))
        for try await entry in lamp.events(after: cursor) { print(entry) }
    }

    static func dim(_ plug: Plug) async throws {
        let answer = try await plug.dim(to: DimLevel(percent: 30), over: .seconds(2))
        print(answer.state.relayOn)
    }

    static func readPower(of plug: Plug) async throws {
        let samples = try await plug.samples(last: .seconds(3600))
        print(samples.count)
        for try await state in plug.states(StateOptions(deadBandMilliwatts: 5000, maximumInterval: .seconds(60))) {
            print(state.reading?.activePower ?? 0)
        }
    }
}
