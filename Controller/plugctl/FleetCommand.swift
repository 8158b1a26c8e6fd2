public import ArgumentParser
public import Fleet
import FleetService
import LinuxSystem
import Presentation

struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Show plugs, energy and faults of several houses, and switch plugs.",
        discussion: """
            Each house has its own daemon, which sends its history to a PostgreSQL database (history.toml) and connects to an MQTT broker \
            (broker.toml), under the same name in both. The addresses of the database and the broker, and the access rights for each \
            house, are configured in ~/.config/smartplug/fleet.toml or /etc/smartplug/fleet.toml:

              [postgresql]
              host = "database.local"
              user = "fleet"
              password_file = "fleet-database-password"   # next to this file; chmod 600
              [broker]                                    # optional; without it plugs cannot be switched
              host = "broker.local"
              user = "fleet"
              password_file = "fleet-broker-password"
              [owner]
              plugctl = "*"                               # users of plugctl; or ["elm-street-5", "oak-*"]
              [viewer]
              Reception = "*"                             # the name of a dashboard password: plugctl daemon password

            Without a subcommand it lists the houses.

            Examples:
              plugctl fleet
              plugctl fleet list --label city=Bonn
              plugctl fleet search lamp
              plugctl fleet off Heater --house elm-street-5
              plugctl fleet energy --from 2026-01 --label city=Bonn --json
            """,
        subcommands: [
            Houses.self, List.self, Search.self, Away.self, Tripped.self, SwitchOn.self, SwitchOff.self, Energy.self,
        ], defaultSubcommand: Houses.self)

    struct Houses: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "houses",
            abstract: "List houses, with sums of their plugs.",
            discussion: """
                With --json: house, labels, plugs, connected, away, tripped, activePower (W), energyThisMonth (Wh), lastSeen, role.

                Example: plugctl fleet houses --label city=Bonn
                """)

        @OptionGroup var houses: FleetHouseOptions
        @OptionGroup var shown: FleetListOptions

        func run() async throws {
            let filter = try houses.filter()
            try await withFleet { fleet, rights in
                let list = try await fleet.houses(filter, for: rights, limit: shown.limit)
                shown.print(list, none: "no house matches", FleetTable.lines)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List plugs.",
            discussion: """
                With --json: house, plug, id, labels, connected, lastSeen, on, level, activePower (W), activeEnergy (Wh), tripped, role.

                Example: plugctl fleet list --house elm-street-5
                """)

        @OptionGroup var houses: FleetHouseOptions
        @OptionGroup var shown: FleetListOptions

        func run() async throws { try await listPlugs(houses.filter(), shown, none: "no plug matches") }
    }

    struct Search: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "search",
            abstract: "Search plugs by name or id.",
            discussion:
                "The search ignores upper and lower case.\n\nExample: plugctl fleet search lamp --label city=Bonn")

        @Argument(help: "A part of the name, or an id.")
        var text: String
        @OptionGroup var houses: FleetHouseOptions
        @OptionGroup var shown: FleetListOptions

        func run() async throws {
            try await listPlugs(houses.filter { $0.search = text }, shown, none: "no plug has this text in its name")
        }
    }

    struct Away: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "away",
            abstract: "List plugs that are away.",
            discussion: """
                A plug is away if its daemon does not reach it, or if the daemon has not reported for two minutes.

                Example: plugctl fleet away --label city=Bonn
                """)

        @OptionGroup var houses: FleetHouseOptions
        @OptionGroup var shown: FleetListOptions

        func run() async throws {
            try await listPlugs(houses.filter { $0.condition = .away }, shown, none: "no plug is away")
        }
    }

    struct Tripped: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "tripped",
            abstract: "List plugs whose protection tripped.",
            discussion:
                "Their relays are locked until the protection is reset.\n\nExample: plugctl fleet tripped --json")

        @OptionGroup var houses: FleetHouseOptions
        @OptionGroup var shown: FleetListOptions

        func run() async throws {
            try await listPlugs(houses.filter { $0.condition = .tripped }, shown, none: "no plug is tripped")
        }
    }

    struct Energy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "energy",
            abstract: "Show energy by house and month, or by plug and month.",
            discussion: """
                Months follow each house's local calendar. With --json: month, house, plug, id, activeEnergy, estimated (Wh).

                Example: plugctl fleet energy --from 2026-01 --to 2026-03 --house elm-street-5 --by-plug
                """)

        @Argument(help: "The plugs' names or ids. (default: whole houses)")
        var names: [String] = []
        @Option(help: "The first month: 2026-01. (default: the previous month)")
        var from: FleetMonth?
        @Option(help: "The last month. (default: this one)")
        var to: FleetMonth?
        @Flag(help: "List each plug separately.")
        var byPlug = false
        @OptionGroup var houses: FleetHouseOptions
        @OptionGroup var shown: FleetListOptions

        func validate() throws {
            if let from, let to, from > to { throw ValidationError("--from \(from) is after --to \(to)") }
        }

        func run() async throws {
            let filter = try houses.filter { $0.plugs = names }
            let last = to ?? FleetMonth.now
            let first = min(from ?? last.before, last)
            try await withFleet { fleet, rights in
                let list = try await fleet.energy(
                    filter, of: first...last, byPlug: byPlug || !names.isEmpty, for: rights, limit: shown.limit)
                shown.print(list, none: "no energy is stored for this time", FleetTable.lines)
            }
        }
    }
}

private func listPlugs(_ filter: FleetFilter, _ shown: FleetListOptions, none: String) async throws {
    try await withFleet { fleet, rights in
        shown.print(try await fleet.plugs(filter, for: rights, limit: shown.limit), none: none, FleetTable.lines)
    }
}

extension FleetMonth: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }

    /// The current month in local time.
    fileprivate static var now: FleetMonth {
        let now = WallTime.now
        let written = now.iso8601(offset: now.localOffset)
        guard let month = FleetMonth(String(written.prefix(7))) else {
            preconditionFailure("a time of the wall clock begins with its month")
        }
        return month
    }
}
