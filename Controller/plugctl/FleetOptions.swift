public import ArgumentParser
import ConfigurationFiles
public import Fleet
import FleetService
import LinuxSystem
import Terminal

/// The file that lists the houses and the rights of users in them.
enum FleetFile {
    /// Returns nil if the file is missing.
    static func read() throws(CLIError) -> FleetSettings? {
        try readUsualSettings("fleet.toml", limit: FleetSettings.fileLimit) { bytes, path throws(ConfigurationError) in
            try FleetSettings(bytes, file: path, home: UserDirectories.home)
        }
    }

    /// Returns the settings for a daemon; nil if the file is missing or invalid. An invalid file is reported, and the
    /// daemon shows no other houses.
    static func settings() -> FleetSettings? {
        daemonSettings(
            "fleet.toml", limit: FleetSettings.fileLimit, untilCorrected: "the dashboard shows only this house",
            FleetSettings.init(_:file:home:))
    }
}

/// Selects houses.
struct FleetHouseOptions: ParsableArguments {
    @Option(parsing: .unconditionalSingleValue, help: "Only this house; may be given several times.")
    var house: [String] = []
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Only houses with this label; if given several times, houses with all these labels.",
            valueName: "key=value"))
    var label: [FleetLabel] = []

    func filter(_ change: (inout FleetFilter) -> Void = { _ in }) throws -> FleetFilter {
        var filter = FleetFilter(houses: house, labels: label)
        change(&filter)
        if let fault = filter.fault { throw ValidationError(fault) }
        return filter
    }
}

extension FleetLabel: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

/// The output format of a list.
struct FleetListOptions: ParsableArguments {
    @Flag(help: "One JSON object per line.")
    var json = false
    @Option(parsing: .unconditional, help: "Maximum number of lines, 1 to \(FleetQuery.largestLimit).")
    var limit = 1000

    func validate() throws {
        guard (1...FleetQuery.largestLimit).contains(limit) else {
            throw ValidationError("--limit must be 1 to \(FleetQuery.largestLimit)")
        }
    }

    /// Prints a list as a table or as JSON lines, and a warning if the list is cut.
    ///
    /// - Parameter none: The message for an empty list.
    func print<Row: Encodable>(_ list: FleetList<Row>, none: String, _ lines: ([Row], Int?) -> [StyledLine]) {
        if json {
            for row in list.rows { guard Output.json(row) else { return } }
        } else if list.rows.isEmpty {
            printError(none)
        } else {
            let device = TerminalDevice.standardOutput
            let capabilities = device.capabilities
            for line in lines(list.rows, device.size?.columns) { guard Output.line(line, capabilities) else { return } }
        }
        if list.isCut {
            printError(
                "the list is cut: there are more than \(limit) entries\nhint: use --house, --label or a larger --limit")
        }
    }
}

/// Runs the body with the houses of fleet.toml and the rights of `plugctl`.
func withFleet(_ body: (FleetAccess, FleetRights) async throws -> Void) async throws {
    try await saying {
        guard let settings = try FleetFile.read() else {
            throw CLIError("fleet.toml does not exist\nhint: see `plugctl help fleet` or Documentation/how-to/fleet.md")
        }
        let rights = settings.rights(of: nil)
        guard !rights.isEmpty else {
            throw CLIError(
                "fleet.toml grants \(FleetSettings.commandLine) no access to any house\n"
                    + "hint: add a line such as \(FleetSettings.commandLine) = \"*\" to [owner], [user] or [viewer]")
        }
        let fleet = FleetAccess(settings)
        do {
            try await body(fleet, rights)
        } catch {
            await fleet.end()
            if let fault = error as? FleetFault { throw CLIError(fault) }
            throw error
        }
        await fleet.end()
    }
}

extension CLIError {
    init(_ fault: FleetFault) { self.init("\(fault)" + (fault.hint.map { "\nhint: \($0)" } ?? "")) }
}
