import Foundation
import LinuxSystem
import Logging
import PlugClient
import PlugModel
import PlugTransport
import Storage

/// The events of a plug on loopback that a controller follows. The controller finds the plug by multicast DNS and pairs
/// with the code of its label.
struct FollowedPlugEvents {
    let client: PlugClient
    let plug: FollowedPlug
    private var reports: PlugReports.AsyncIterator
    /// The relay's state in the last relay event, or false before the first one.
    private(set) var relayIsOn = false

    /// - Parameters:
    ///   - name: a plug name that is unique on this machine.
    ///   - state: the plug's state directory, which has its setup code.
    ///   - directory: the folder in which this controller stores its paired plugs.
    ///   - followsState: true to subscribe to states too, which carry readings and the relay's state.
    init(
        of name: String, state: String, directory: String, as identity: TransportIdentity, followsState: Bool
    ) async throws {
        client = PlugClient(
            name: "benchmark", identity: identity, paired: PairedPlugs(directory: directory), interfaces: ["lo"],
            logger: Logger(label: "client") { _ in SwiftLogNoOpLogHandler() })
        let found = try await client.find(name, within: .seconds(10))
        _ = try await client.pair(found.name, code: PlugLabel(state: state).code)
        plug = client.follow(found, after: .beginning, stateOptions: followsState ? StateOptions() : nil)
        reports = plug.reports.makeAsyncIterator()
        while case let update? = await reports.next()?.update {
            // The first event is the plug's start.
            if case .event = update { return }
        }
        throw BenchmarkError("the plug could not be followed")
    }

    /// Waits for the next event.
    /// - Throws: ``BenchmarkError`` after a gap or a disconnection.
    mutating func next() async throws -> PlugEvent {
        while case let update? = await reports.next()?.update {
            switch update {
            case .event(let event, _):
                if case .relayChanged(let on, _) = event.kind { relayIsOn = on }
                return event
            case .gap(let gap): throw BenchmarkError("events \(gap.from) to \(gap.to) were lost while measuring")
            case .disconnected(let reason, _): throw BenchmarkError("the plug was lost while measuring: \(reason)")
            case .connected, .following, .snapshot, .state, .log: continue
            }
        }
        throw BenchmarkError("the plug was lost while measuring")
    }

    func stop() async {
        await plug.stop()
        await client.stop()
    }
}
