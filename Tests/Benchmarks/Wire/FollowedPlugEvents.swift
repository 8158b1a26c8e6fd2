import Foundation
import LinuxClocks
import Logging
import PlugClient
import PlugModel
import PlugTransport
import Storage

/// A plug on loopback as a controller follows it: found by multicast DNS, paired by its label.
struct FollowedPlugEvents {
    let client: PlugClient
    let plug: FollowedPlug
    private var reports: PlugReports.AsyncIterator
    /// As the events tell it.
    private(set) var relayIsOn = false

    /// - Parameters:
    ///   - name: of a plug that nothing else on this machine bears.
    ///   - state: the directory in which the plug keeps its setup code.
    ///   - directory: where this controller keeps whom it knows.
    ///   - followsState: whether readings come too, and the relay's state beside its event.
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
            // The plug's own start is the first event.
            if case .event = update { return }
        }
        throw Complaint("the plug could not be followed")
    }

    mutating func next() async throws -> PlugEvent {
        while case let update? = await reports.next()?.update {
            switch update {
            case .event(let event, _):
                if case .relayChanged(let on, _) = event.kind { relayIsOn = on }
                return event
            case .gap(let gap): throw Complaint("events \(gap.from) to \(gap.to) were lost while measuring")
            case .disconnected(let reason, _): throw Complaint("the plug was lost while measuring: \(reason)")
            case .connected, .following, .snapshot, .state, .log: continue
            }
        }
        throw Complaint("the plug was lost while measuring")
    }

    func stop() async {
        await plug.stop()
        await client.stop()
    }
}
