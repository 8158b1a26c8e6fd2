import ArgumentParser
import Fleet
import FleetService
import PlugModel
import Presentation

extension FleetCommand {
    struct SwitchOn: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "on", abstract: "Turn plugs of houses on.",
            discussion: "Example: plugctl fleet on \"Hall Light\" --house elm-street-5")

        @OptionGroup var plugs: FleetSwitchOptions

        func validate() throws { try plugs.check() }
        func run() async throws { try await plugs.turn(on: true) }
    }

    struct SwitchOff: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "off", abstract: "Turn plugs of houses off.",
            discussion: """
                Examples:
                  plugctl fleet off Heater --house elm-street-5
                  plugctl fleet off Heater --label city=Bonn --all
                  plugctl fleet off --house elm-street-5 --all
                """)

        @OptionGroup var plugs: FleetSwitchOptions

        func validate() throws { try plugs.check() }
        func run() async throws { try await plugs.turn(on: false) }
    }
}

/// The plugs to switch, and the output format.
struct FleetSwitchOptions: ParsableArguments {
    /// The maximum number of houses that an error lists for an ambiguous name.
    private static let shownNames = 5

    @Argument(help: "The plugs' names or ids.")
    var names: [String] = []
    @OptionGroup var houses: FleetHouseOptions
    @Flag(
        help: """
            Switch all plugs if several have the name; without names, switch every plug of the houses that --house and --label select.
            """)
    var all = false
    @Flag(help: "One JSON object per plug: house, plug, id, on, seq, or error.")
    var json = false

    func check() throws {
        guard names.isEmpty else { return }
        guard all, !houses.house.isEmpty || !houses.label.isEmpty else {
            throw ValidationError(
                "name a plug, or use --all with --house or --label to switch every plug of these houses")
        }
    }

    /// Switches the plugs. The exit status is 1 if no plug was switched, and 2 if only some plugs were.
    func turn(on: Bool) async throws {
        let filter = try houses.filter { $0.plugs = names }
        try await withFleet { fleet, rights in
            let list = try await fleet.plugs(filter, for: rights, limit: FleetRequests.limit)
            guard !list.isCut else {
                throw CLIError(
                    "more than \(FleetRequests.limit) plugs match; none was switched\nhint: select fewer plugs with --house or --label"
                )
            }
            let missing = try choose(among: list.rows)
            let (done, left) = await order(on, list.rows, fleet, rights)
            guard missing + left == 0 else { throw done == 0 ? ExitCode.failure : ExitCode(2) }
        }
    }

    /// Reports names that match no plug. Throws if a name is ambiguous and `--all` is not set.
    ///
    /// - Returns: The number of names that match no plug.
    private func choose(among plugs: [FleetPlug]) throws(CLIError) -> Int {
        guard !names.isEmpty else {
            if plugs.isEmpty {
                throw CLIError("these houses have no plugs\nhint: `plugctl fleet list` lists all plugs")
            }
            return 0
        }
        var missing = 0
        for name in names {
            let found = plugs.filter { $0.id == name.lowercased() || $0.plug.lowercased() == name.lowercased() }
            if found.isEmpty {
                printError("no plug is called \(name)\nhint: use `plugctl fleet search` to find it")
                missing += 1
            }
            guard found.count <= 1 || all else {
                let some = found.prefix(Self.shownNames).map(\.house).joined(separator: ", ")
                throw CLIError(
                    "\(found.count) plugs are called \(name): in \(some)\(found.count > Self.shownNames ? " ..." : "")\n"
                        + "hint: use --house HOUSE or the plug's id to select one plug, or --all to switch all")
            }
        }
        return missing
    }

    private func order(
        _ on: Bool, _ plugs: [FleetPlug], _ fleet: FleetAccess, _ rights: FleetRights
    ) async -> (done: Int, left: Int) {
        var done = 0
        await withTaskGroup(of: FleetSwitchRecord.self) { group in
            for plug in plugs {
                group.addTask {
                    guard rights.maySwitch(in: plug.house), let id = PlugID(rawValue: plug.id) else {
                        return FleetSwitchRecord(
                            plug, .refused("fleet.toml gives you only the viewer role in \(plug.house)"))
                    }
                    let order = FleetOrder(house: plug.house, plug: id, on: on)
                    return FleetSwitchRecord(plug, await fleet.carryOut(order))
                }
            }
            for await record in group {
                if record.error == nil { done += 1 } else { printError(record.text) }
                if json { Output.json(record) } else if record.error == nil { Output.safeLine(record.text) }
            }
        }
        return (done, plugs.count - done)
    }
}
