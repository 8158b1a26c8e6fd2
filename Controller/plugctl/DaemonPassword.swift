import ArgumentParser
import Dashboard
import LinuxSystem
import PlugModel
import Presentation
import Terminal

struct DaemonPassword: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Set, list or remove the passwords of the dashboard.",
        discussion: """
            The command prompts for the password at a terminal and otherwise reads it from standard input. Only its hash is stored, \
            in a file that only you can read. A running daemon uses the new password at once; sessions of the previous password end. \
            Scripts and Prometheus use the password with HTTP Basic authentication and any user name.

            The first password must have the owner role, which has full access. A user may switch and dim, a viewer may only watch, and a guest \
            is a user for a limited time. The name of a password identifies its sessions.

            Examples:
              plugctl daemon password
              pass house/dashboard | plugctl daemon password
              plugctl daemon password Anna --as user
              plugctl daemon password Hallway --as viewer
              plugctl daemon password Visitor --as guest --for 2d
              plugctl daemon password --list
              plugctl daemon password --remove Anna
              sudo -u smartplug plugctl daemon password --password-file /var/lib/smartplug/dashboard-password
            """)

    /// The parent command. The parser assigns it the options that both commands define, even after this command's name.
    @ParentCommand var daemon: DaemonCommand
    @OptionGroup var file: PasswordFileOption
    @Argument(help: "The name of the password. (default: its role)")
    var name: String?
    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The role that it grants: owner, user, viewer or guest. (default: owner)", valueName: "role"),
        transform: Self.role)
    var role: Role?
    @Option(
        name: .customLong("for"), parsing: .unconditional,
        help: "How long it is valid, such as 2h or 2d. Required for a guest, not allowed for an owner.")
    var time: TimeSpan?
    @Flag(help: "Remove the named password, or all passwords (the dashboard becomes local-only).")
    var remove = false
    @Flag(help: "List the passwords: name, role and end.")
    var list = false
    @Flag(help: "With --list: one JSON object per password: name, role, until, ended.")
    var json = false

    func validate() throws {
        if remove || list, role != nil || time != nil {
            throw ValidationError("--as and --for cannot be combined with --remove or --list")
        }
        if remove, list { throw ValidationError("--remove and --list cannot be combined") }
        if list, name != nil { throw ValidationError("--list does not take a name") }
        if isJSON, !list { throw ValidationError("--json requires --list") }
        if let name, let fault = DashboardPassword.fault(ofName: name) { throw ValidationError(fault) }
        if !remove, !list { _ = try grant() }
    }

    func run() async throws {
        try await saying {
            do {
                if list { try show() } else if remove { try takeAway() } else { try set() }
            } catch let error as FileError {
                throw CLIError(error)
            } catch let error as DashboardFault {
                throw CLIError("\(error)")
            }
        }
    }

    private static func role(_ text: String) throws -> Role {
        guard let role = Role(rawValue: text) else {
            throw ValidationError(
                "'\(text)' is not a role; the roles are \(Role.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return role
    }

    private var isJSON: Bool { json || daemon.runner.json }

    /// Returns the role and the duration of the new password.
    ///
    /// - Throws: `ValidationError`.
    private func grant() throws -> Grant {
        do throws(GrantError) {
            return try Grant(role ?? .owner, seconds: time.map { UInt32(max(0, $0.duration.components.seconds)) })
        } catch {
            throw ValidationError("\(error)")
        }
    }

    private func show() throws {
        let all = try file.file.passwords()
        for one in all {
            let record = PasswordRecord(
                name: one.name, role: one.role, until: one.until, ended: one.hasEnded(now: PasswordRecord.now))
            if isJSON { Output.json(record) } else { Output.safeLine(record.text) }
        }
        if all.isEmpty, !isJSON { Output.line("no password is set") }
    }

    private func takeAway() throws {
        guard let name else {
            Output.line(try file.file.removeAll() ? "all passwords are removed" : "no password was set")
            return
        }
        try file.file.remove(name)
        Output.safeLine("the password of \(name) is removed")
    }

    private func set() throws {
        let grant = try grant()
        let isTerminal = TerminalDevice.standardInput.isTerminal
        let password = isTerminal ? hidden("New password for the dashboard: ") : readLine()
        guard let password else {
            throw CLIError("no password was entered\nhint: type it, or pass it on standard input")
        }
        if let fault = PasswordFile.fault(of: password) {
            throw CLIError("\(fault)\nhint: four unrelated words make a good password")
        }
        guard !isTerminal || hidden("Repeat the password: ") == password else {
            throw CLIError("the passwords do not match\nhint: try again")
        }
        let until = grant.seconds.map { PasswordRecord.now + Int64($0) }
        try file.file.set(password, named: name ?? grant.role.rawValue, role: grant.role, until: until)
        Output.line("the password is set")
    }

    private func hidden(_ question: String) -> String? {
        TerminalDevice.standardInput.readHiddenLine(question, on: .standardError)
    }
}

/// One line of `plugctl daemon password --list`, as text or JSON.
private struct PasswordRecord: Encodable {
    let name: String
    let role: String
    /// ISO 8601, UTC; missing if the password does not expire.
    let until: String?
    let ended: Bool

    init(name: String, role: Role, until: Int64?, ended: Bool) {
        self.name = name
        self.role = role.rawValue
        // Clamped to the year 2242.
        self.until = until.map { (WallTime(nanosecondsSince1970: 0) + .seconds(min(max(0, $0), 1 << 33))).iso8601() }
        self.ended = ended
    }

    /// Seconds since 1970.
    static var now: Int64 { WallTime.now.nanosecondsSince1970 / 1_000_000_000 }

    var text: String {
        let end =
            until.map { (ended ? ", ended " : ", until ") + $0.prefix(16).replacing("T", with: " ") + " UTC" } ?? ""
        return "\(name)  \(role)\(end)"
    }
}
