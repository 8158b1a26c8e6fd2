import ArgumentParser
import LinuxSystem
import PlugClient
import PlugModel
import Presentation
import Terminal

struct WiFiCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wifi",
        abstract: "Show the Wi-Fi of a plug, or change the networks that it joins.",
        discussion: """
            This requires the owner role, and [wifi] in the plug's configuration. The plug tries a new network before it stores it, for at most
            30 s; without success it returns to its previous networks. Its connection is interrupted for that time. The command waits for the
            result, which it does not receive if the plug is in a different network afterwards.

            The command prompts for the password at a terminal and otherwise reads it from standard input.

            Examples:
              plugctl wifi Lamp
              plugctl wifi Lamp --join "Our house" --country DE
              plugctl wifi Lamp --join "Our house" --password-file wifi-password
              plugctl wifi Lamp --remove "Old house"
              plugctl wifi Lamp --setup
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Option(parsing: .unconditional, help: "Join the network with this name, and store it with the highest priority.")
    var join: String?
    @OptionGroup var access: NetworkAccess
    @Option(parsing: .unconditional, help: "Forget the network with this name.")
    var remove: String?
    @Flag(help: "Open the plug's own network for its setup by a phone.")
    var setup = false
    @Flag(
        help: """
            One JSON object per state: plug, id, phase (off, searching, joined, trying, setup), network, accessPoint, signal, megahertz, \
            networks, country, failedNetwork, reason.
            """)
    var json = false

    /// The time in which a plug returns from a trial.
    private static let patience = Duration.seconds(90)

    func validate() throws {
        guard [join != nil, remove != nil, setup].filter({ $0 }).count <= 1 else {
            throw ValidationError("--join, --remove and --setup cannot be combined")
        }
        guard join != nil || access.isEmpty else {
            throw ValidationError("--password-file, --open and --country require --join")
        }
        for name in [join, remove].compactMap(\.self) { _ = try NetworkAccess.name(name) }
        try access.validate()
    }

    func run() async throws {
        guard let join else {
            let order = try remove.map { WiFiRequest.remove(try NetworkAccess.name($0)) } ?? (setup ? .setUp : .ask)
            return try await network.withConnected(name) { plug, description in
                let report = try await refusable(plug.name) { try await plug.manageWiFi(order) }
                guard let report else { throw CLIError.unanswered(plug.name) }
                show(WiFiRecord(report, plug: plug.name, id: description.id))
            }
        }
        let wanted = try access.network(join)
        guard try await joins(.join(wanted, country: try access.code()), wanted.name) else { throw ExitCode.failure }
    }

    /// Requests to join a network, and follows the plug until it has joined it or failed.
    private func joins(_ order: WiFiRequest, _ wanted: WiFiName) async throws -> Bool {
        var outcome: Bool?
        try await network.withClient { client in
            let found = try await client.find(name, within: network.wait.duration)
            let plug = client.follow(found, after: nil, stateOptions: nil)
            let end = ContinuousClock.now + Self.patience
            var next = order
            // The session ends with the loop.
            for await report in plug.reports {
                guard outcome == nil, ContinuousClock.now < end else { break }
                guard case .connected(let description) = report.update else { continue }
                while outcome == nil, let state = try await refusable(plug.name, { try await plug.manageWiFi(next) }) {
                    if case .trying = state.phase {
                        if next != .ask { show(WiFiRecord(state, plug: plug.name, id: description.id)) }
                        try await Task.sleep(for: .seconds(1))
                    } else {
                        show(WiFiRecord(state, plug: plug.name, id: description.id))
                        outcome = state.failure == nil && state.networks.first == wanted
                    }
                    next = .ask
                }
                next = .ask
                guard outcome == nil else { break }
            }
            await plug.stop()
        }
        if let outcome { return outcome }
        throw CLIError(
            "\(name) has not come back within 90 s\nhint: it may be in a different network than this computer")
    }

    private func show(_ record: WiFiRecord) {
        if json { Output.json(record) } else { for line in record.lines { Output.safeLine(line) } }
    }
}

/// The options that describe how a plug joins a network.
struct NetworkAccess: ParsableArguments {
    @Option(help: "Read the password from this file. (default: prompt, or standard input)")
    var passwordFile: String?
    @Flag(help: "The network has no password.")
    var open = false
    @Option(parsing: .unconditional, help: "The country of the plug, two letters. (default: unchanged)")
    var country: String?

    var isEmpty: Bool { passwordFile == nil && !open && country == nil }

    func validate() throws {
        guard !open || passwordFile == nil else {
            throw ValidationError("--open and --password-file cannot be combined")
        }
        _ = try code()
    }

    func code() throws -> WiFiCountry? {
        guard let country else { return nil }
        guard let code = WiFiCountry(rawValue: country) else {
            throw ValidationError("a country has two letters, such as DE")
        }
        return code
    }

    static func name(_ text: String) throws -> WiFiName {
        guard let name = WiFiName(text) else { throw ValidationError("the name of a network has 1 to 32 bytes") }
        return name
    }

    /// Returns the network with its password, for which this may prompt.
    func network(_ text: String) throws -> WiFiNetwork {
        let name = try Self.name(text)
        guard !open else { return WiFiNetwork(name, password: nil) }
        guard let password = WiFiPassword(try secret(name)) else {
            throw CLIError(
                "the password of a Wi-Fi network has 8 to 63 printable ASCII characters\nhint: --open for a network without one"
            )
        }
        return WiFiNetwork(name, password: password)
    }

    private func secret(_ name: WiFiName) throws -> Substring {
        if let passwordFile {
            do throws(FileError) {
                let bytes = try FileStore().read(passwordFile, limit: 4096)
                return String(decoding: bytes, as: UTF8.self).prefix { !$0.isNewline }
            } catch {
                throw CLIError(error)
            }
        }
        let input = TerminalDevice.standardInput
        let line =
            input.isTerminal
            ? input.readHiddenLine("Password of \(safeText(name.description)): ", on: .standardError) : readLine()
        guard let line else {
            throw CLIError("no password was entered\nhint: type it, pass it on standard input, or use --password-file")
        }
        return line[...]
    }
}
