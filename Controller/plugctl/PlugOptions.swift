import ArgumentParser
import PlugClient
import PlugModel

/// The network options of a command that connects to one plug.
struct PlugOptions: ParsableArguments {
    @OptionGroup var network: NetworkOptions
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            Connect to the paired plug at this host name or IP address, without searching the network. An IPv6 address with a \
            port needs brackets. (default: search the network, then the address that `plugctl address` stored; port 7001)
            """, valueName: "host[:port]"),
        transform: PlugAddress.init(argument:))
    var address: PlugAddress?

    /// How long to search for a plug by name.
    var wait: TimeSpan { network.wait }
    /// See ``NetworkOptions/answerTime``.
    var answerTime: TimeSpan { network.answerTime }
    /// See ``NetworkOptions/commandTime``.
    var commandTime: TimeSpan { network.commandTime }

    /// See ``NetworkOptions/withClient(connects:endsItself:at:_:)``.
    func withClient(endsItself: Bool = true, _ body: (PlugClient) async throws -> Void) async throws {
        try await network.withClient(endsItself: endsItself, at: address, body)
    }

    /// See ``NetworkOptions/withConnected(_:at:_:)``.
    func withConnected(_ name: String, _ body: (FollowedPlug, PlugDescription) async throws -> Void) async throws {
        try await network.withConnected(name, at: address, body)
    }

    /// Checks that an address is given for one plug only.
    ///
    /// - Throws: `ValidationError`.
    func validate(names: [String]) throws {
        guard address == nil || Set(names).count == 1 else {
            throw ValidationError("--address requires exactly one plug; run the command once per plug")
        }
    }
}

extension PlugAddress {
    /// Parses an argument.
    ///
    /// - Throws: `ValidationError` with the reason.
    init(argument: String) throws {
        do throws(PlugAddressError) { try self.init(argument) } catch { throw ValidationError("\(error)") }
    }
}
