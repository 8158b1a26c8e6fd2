import ArgumentParser
import HTTPRequests
import PlugModel
import ProtocolCore

struct SetupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Set up the Wi-Fi of a plug whose own network this computer has joined.",
        discussion: """
            A plug without a known network opens its own one; the label and `plugd identity` have its name, such as Plug-1a2b, and its password.
            Join it with this computer, run the command, and join your network again. The plug's light shows when it has an address. If the plug
            cannot join the network, it opens its own one again, and `plugctl setup` without --join shows the reason.

            Examples:
              plugctl setup --join "Our house" --country DE
              plugctl setup --join "Our house" --fixed-address 192.168.1.20/24 --router 192.168.1.1
              plugctl setup
            """)

    @Option(parsing: .unconditional, help: "The name of the network that the plug joins.")
    var join: String?
    @OptionGroup var access: NetworkAccess
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The plug's address in the network, with its number of bits.",
            discussion: "(default: the router chooses one)",
            valueName: "address/bits"))
    var fixedAddress: String?
    @Option(parsing: .unconditional, help: "The router, with --fixed-address.")
    var router: String?
    @Option(parsing: .unconditional, help: "The name server, with --fixed-address.")
    var nameServer: String?

    /// The plug's address in its own network.
    private static let address = "http://192.168.73.1"

    func validate() throws {
        guard join != nil || access.isEmpty else {
            throw ValidationError("--password-file, --open and --country require --join")
        }
        guard join != nil || fixedAddress == nil else { throw ValidationError("--fixed-address requires --join") }
        guard fixedAddress != nil || (router == nil && nameServer == nil) else {
            throw ValidationError("--router and --name-server require --fixed-address")
        }
        if let join { _ = try NetworkAccess.name(join) }
        try access.validate()
    }

    func run() async throws {
        let network = try join.map { try access.network($0) }
        let country = try access.code()
        do {
            let request =
                network.map {
                    SingleRequest(form: form($0, country), to: Self.address + "/join", within: .seconds(10))
                }
                ?? SingleRequest(get: Self.address + "/", connectWithin: .seconds(5), within: .seconds(10))
            let (status, body) = try await request.load(limit: 1 << 20)
            let message = Self.message(in: String(decoding: body, as: UTF8.self))
            guard status == 200 else {
                throw CLIError(message ?? "the plug refused the settings (HTTP status \(status))")
            }
            guard network != nil else {
                Output.safeLine(message ?? "the plug waits for a network: use --join")
                return
            }
        } catch let fault as RequestFault {
            throw CLIError(
                "no plug answers at 192.168.73.1: \(fault)\nhint: join the plug's own network first; its label has the name and the password"
            )
        }
        Output.safeLine("the plug now tries \(join ?? ""); its own network closes for up to 30 s")
    }

    private func form(_ network: WiFiNetwork, _ country: WiFiCountry?) -> [(name: String, value: String)] {
        [
            ("network", HexadecimalText.text(of: network.name.bytes)), ("password", network.password?.secret ?? ""),
            ("country", country?.rawValue ?? ""), ("address", fixedAddress ?? ""), ("router", router ?? ""),
            ("name_server", nameServer ?? ""),
        ]
    }

    /// The error that the page shows.
    private static func message(in page: String) -> String? {
        guard let start = page.firstRange(of: "role=alert>")?.upperBound,
            let end = page[start...].firstIndex(of: "<")
        else { return nil }
        return String(page[start..<end])
    }
}
