import ArgumentParser
import LinuxSystem
import PlugClient
import Presentation

struct Info: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show a plug's description and state.",
        discussion: "Example: plugctl info Television")

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Flag(help: "Print a JSON object.")
    var json = false

    func run() async throws {
        try await network.withClient { client in
            let found = try await client.find(name, within: network.wait.duration)
            let plug = client.follow(found)
            let record = try await answered(by: plug, within: network.answerTime) {
                var record: InfoRecord?
                var clock: PlugClock?
                var hasFabrics = false
                for await report in plug.reports {
                    if case .connected(let description) = report.update, let place = await plug.place {
                        record = InfoRecord(description, at: place, now: BootClock.now)
                        clock = PlugClock(description, at: report.at)
                        hasFabrics = description.capabilities.contains(.matter) && description.role == .owner
                    } else if case .snapshot(let state) = report.update {
                        record?.add(state, clock: clock)
                        break
                    } else if case .disconnected(let reason, _) = report.update {
                        try reportDisconnection(plug.name, reason)
                    }
                }
                if hasFabrics, let matter = try? await plug.manageMatter(.ask) { record?.add(matter) }
                return record
            }
            await plug.stop()
            guard let record else { return }
            if json { Output.json(record) } else { record.lines.forEach { Output.safeLine($0) } }
        }
    }
}
