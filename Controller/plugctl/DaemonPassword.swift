import ArgumentParser
import Dashboard
import DurableFiles
import LinuxClocks
import PlugModel
import Presentation
import Terminal

struct DaemonPassword: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Set the dashboard's passwords, each with what it allows.",
        discussion: """
            It is asked for at a terminal, else read from standard input, and kept as a hash that only you can read. Who is logged \
            in with the one before has to log in again. A daemon that runs takes it at once. For scripts and Prometheus it is the \
            password of Basic authorization, with any user.

            The first is an owner's, who may do everything. A user switches and dims, a viewer only looks, and a guest is a user \
            until a time. Each has a name, by which sessions tell who came.

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

    /// The parser assigns an option that both commands define to the parent, even after this command's name.
    @ParentCommand var daemon: DaemonCommand
    @OptionGroup var file: PasswordFileOption
    @Argument(help: "What the password is called. (default: its role)")
    var name: String?
    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("What it allows: owner, user, viewer or guest. (default: owner)", valueName: "role"),
        transform: Self.role)
    var role: Role?
    @Option(
        name: .customLong("for"), parsing: .unconditional,
        help: "For how long it is good: 2h, 2d. A guest's needs one; an owner's has no end.")
    var time: TimeSpan?
    @Flag(help: "Take the one of this name away; without a name all: then only this machine can open the dashboard.")
    var remove = false
    @Flag(help: "Show which there are: names, roles and ends.")
    var list = false
    @Flag(help: "With --list, a JSON object for each: name, role, until, ended.")
    var json = false

    func validate() throws {
        if remove || list, role != nil || time != nil { throw ValidationError("--as and --for set a password") }
        if remove, list { throw ValidationError("--remove and --list exclude each other") }
        if list, name != nil { throw ValidationError("--list shows all") }
        if isJSON, !list { throw ValidationError("--json goes with --list") }
        if let name, let fault = DashboardPassword.fault(ofName: name) { throw ValidationError(fault) }
        if !remove, !list { _ = try grant() }
    }

    func run() async throws {
        try await saying {
            do {
                if list { try show() } else if remove { try takeAway() } else { try set() }
            } catch let error as FileError {
                throw Complaint(error)
            } catch let error as DashboardFault {
                throw Complaint("\(error)")
            }
        }
    }

    private static func role(_ text: String) throws -> Role {
        guard let role = Role(rawValue: text) else {
            throw ValidationError("'\(text)' is no role: \(Role.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return role
    }

    private var isJSON: Bool { json || daemon.runner.json }

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
        if all.isEmpty, !isJSON { Output.line("there is no password") }
    }

    private func takeAway() throws {
        guard let name else {
            Output.line(try file.file.removeAll() ? "the password is removed" : "there was no password")
            return
        }
        try file.file.remove(name)
        Output.safeLine("the password of \(name) is removed")
    }

    private func set() throws {
        let grant = try grant()
        let isTerminal = TerminalDevice.standardInput.isTerminal
        let password = isTerminal ? hidden("New password of the dashboard: ") : readLine()
        guard let password else {
            throw Complaint("no password came in\nhint: type it, or give it on standard input")
        }
        if let fault = PasswordFile.fault(of: password) {
            throw Complaint("\(fault)\nhint: four words that have nothing to do with each other are a good one")
        }
        guard !isTerminal || hidden("The same again: ") == password else {
            throw Complaint("the two differ\nhint: try again")
        }
        let until = grant.seconds.map { PasswordRecord.now + Int64($0) }
        try file.file.set(password, named: name ?? grant.role.rawValue, role: grant.role, until: until)
        Output.line("the password is set")
    }

    private func hidden(_ question: String) -> String? {
        TerminalDevice.standardInput.readHiddenLine(question, on: .standardError)
    }
}

/// One line of `plugctl daemon password --list --json`.
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
