import ArgumentParser
import LinuxSystem
import PlugClient
import PlugModel
import Presentation
import Terminal

struct Pair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair with a plug.",
        discussion: """
            After pairing, the plug accepts commands from this controller. The setup code is on the plug's label; `plugd identity` shows it
            too. A plug without pairings accepts pairing for ten minutes after its start; any plug accepts it for two minutes after its
            button was held for five seconds. With --address the command pairs with a plug that multicast DNS does not reach, and stores the
            address (`plugctl address`). The plug rejects controllers of other networks, unless networks in [pairing] of its plugd.toml
            names their network.

            Examples:
              plugctl pair Lamp
              plugctl pair Lamp --code-file lamp.code
              pass plugs/lamp | plugctl pair Lamp
              plugctl pair Lamp --replace
              plugctl pair Lamp --address 10.9.0.2:7001
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Option(help: "Read the setup code from this file. (default: prompt at a terminal, else standard input)")
    var codeFile: String?
    @Flag(
        help: """
            Accept a new key for a plug that is already paired, such as after a factory reset.
            """)
    var replace = false
    @Flag(help: "Print a JSON object: plug, id, fingerprint.")
    var json = false

    func run() async throws {
        try await network.withClient { client in
            let found = try await client.findAnnounced(name, within: network.wait.duration)
            let plug = try await client.pair(
                found, code: setupCode(of: found), replacing: replace, within: network.wait.duration)
            if let address = network.address { try await PairedPlugs().setAddress(address, of: plug.id) }
            let record = PairedRecord(plug)
            if json { Output.json(record) } else { Output.safeLine(record.text) }
        }
    }

    private func setupCode(of plug: String) throws -> SetupCode {
        guard let codeFile else { return try SetupCode(text: try typed(plug)) }
        do {
            // The code file of a plug contains the code twice, so only its first line is read.
            let bytes = try FileStore().read(codeFile, limit: 4096)
            return try SetupCode(text: String(decoding: bytes, as: UTF8.self).prefix { !$0.isNewline })
        } catch let error as SetupCodeError {
            throw CLIError("\(codeFile): \(error)")
        } catch let error as FileError {
            throw CLIError(error)
        }
    }

    private func typed(_ plug: String) throws -> String {
        if TerminalDevice.standardInput.isTerminal {
            TerminalDevice.standardError.write(Array("Setup code of \(safeText(plug)), from its label: ".utf8))
        }
        guard let line = readLine() else {
            throw CLIError("no setup code was entered\nhint: type the code on the plug's label, or use --code-file")
        }
        return line
    }
}
