public import ArgumentParser
import PlugClient
import PlugModel
import Presentation
public import SystemUpdates

struct UpdateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Send a new system to a plug with an image of Scripts/image, or show the state of its update.",
        discussion: """
            This requires the owner role. The plug verifies the bundle's signature, installs it next to the running system, and restarts with it
            when its relay is off. During a restart the plug is off. The new system has to prove within ten minutes that button, relay and
            network work and that a controller connects; otherwise the plug restarts with the previous system. An older system is refused
            without --older.

            The command waits until the new system works, except for a plug that is on. After a lost connection it continues. For a restart at
            a quiet time, use --restart later, and --restart now at that time.

            Examples:
              plugctl update Lamp smartplug-arm64.raucb
              plugctl update Lamp smartplug-arm64.raucb --restart later
              plugctl update Lamp https://example.org/plugs --check
              plugctl update Lamp --restart now
              plugctl update Lamp
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Argument(
        help: """
            The bundle with the new system, or a folder or the HTTP address of a folder that has the bundle and the JSON file of \
            Scripts/image; without it, nothing is sent.
            """)
    var source: String?
    @Flag(help: "Only show which system the folder or HTTP server has for the plug.")
    var check = false
    @Option(help: "When the plug restarts: now, when-off (default with a bundle), later.")
    var restart: UpdateRestart?
    @Flag(help: "Accept a system that is older than the plug's.")
    var older = false
    @Flag(help: "Stop receiving the bundle, and do not restart when the relay is off.")
    var cancel = false
    @Flag(
        help: """
            One JSON object per step: plug, id, phase (idle, receiving, installing, installed, trying, returned, failed, unknown), percent, board, \
            system, newSystem, available, reason, restartsWhenOff.
            """)
    var json = false

    func validate() throws {
        guard !cancel || (source == nil && restart == nil) else {
            throw ValidationError("--cancel cannot be combined with a bundle or with --restart")
        }
        guard !older || source != nil else { throw ValidationError("--older requires a bundle") }
        guard !check || (source != nil && restart == nil) else {
            throw ValidationError("--check requires a folder or an HTTP address, and cannot be combined with --restart")
        }
    }

    func run() async throws {
        var isDone = false
        try await network.withClient { client in
            var update = PlugUpdate(
                from: try source.map(UpdateSource.init), onlyChecks: check, allowsOlder: older, cancels: cancel,
                restart: restart ?? (source == nil ? nil : .whenOff))
            let found = try await client.find(name, within: network.wait.duration)
            let plug = client.follow(found, after: nil, stateOptions: nil)
            // The session ends with the loop.
            for await report in plug.reports {
                switch report.update {
                case .disconnected(let reason, _): try reportDisconnection(plug.name, reason)
                case .connected(let description):
                    let outcome = try await refusable(plug.name) {
                        try await update.proceed(plug) { report, available in
                            show(UpdateRecord(report, available: available, plug: plug.name, id: description.id))
                        }
                    }
                    guard let outcome else { continue }
                    isDone = outcome
                    await plug.stop()
                    return
                case .following, .snapshot, .state, .event, .gap, .log: break
                }
            }
        }
        if !isDone { throw ExitCode.failure }
    }

    private func show(_ record: UpdateRecord) {
        if json { Output.json(record) } else { Output.safeLine(record.text) }
    }
}

extension UpdateRestart: ExpressibleByArgument {}
