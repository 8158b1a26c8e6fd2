import ArgumentParser
import DurableFiles
import PlugClient
import PlugModel
import Presentation
import Terminal

struct Pair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Get to know a plug, once: after that it obeys this controller, and no stranger.",
        discussion: """
            The plug's setup code is on its label; `plugd identity` shows it too. A plug lets itself be paired for ten minutes
            after it started without knowing anybody, and for two after its button was held for five seconds.

            Examples:
              plugctl pair Lamp
              plugctl pair Lamp --code-file lamp.code
              pass plugs/lamp | plugctl pair Lamp
              plugctl pair Lamp --replace
            """)

    @OptionGroup var network: NetworkOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Option(help: "Read the setup code from this file; it is asked for at a terminal, else read from standard input.")
    var codeFile: String?
    @Flag(
        help: """
            Pin the plug's key although its id is paired with a different key: for a plug that was set back to factory state.
            """)
    var replace = false
    @Flag(help: "As a JSON object: plug, id, fingerprint.")
    var json = false

    func run() async throws {
        try await network.withClient { client in
            let found = try await client.findAnnounced(name, within: network.wait.duration)
            let plug = try await client.pair(
                found, code: setupCode(of: found), replacing: replace, within: network.wait.duration)
            let record = PairedRecord(plug)
            if json { Output.json(record) } else { Output.safeLine(record.text) }
        }
    }

    private func setupCode(of plug: String) throws -> SetupCode {
        guard let codeFile else { return try SetupCode(text: try typed(plug)) }
        do {
            // The code file of a plug contains the code twice.
            let bytes = try FileStore().read(codeFile, limit: 4096)
            return try SetupCode(text: String(decoding: bytes, as: UTF8.self).prefix { !$0.isNewline })
        } catch let error as SetupCodeError {
            throw Complaint("\(codeFile): \(error)")
        } catch let error as FileError {
            throw Complaint(error)
        }
    }

    private func typed(_ plug: String) throws -> String {
        if TerminalDevice.standardInput.isTerminal {
            TerminalDevice.standardError.write(Array("Setup code of \(safeText(plug)), from its label: ".utf8))
        }
        guard let line = readLine() else {
            throw Complaint("no setup code came in\nhint: it stands on the plug's label; type it, or give --code-file")
        }
        return line
    }
}
