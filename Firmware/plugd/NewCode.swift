import ArgumentParser
import PlugModel
import PlugService
import QRCode
import Storage

struct NewCode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new-code",
        abstract: "Replace the setup code of a running plug, and show it as text and as a QR code.",
        discussion: """
            The previous code, also the one on the label, becomes invalid at once. Existing pairings are kept. code_after_reset in
            [pairing] of the configuration determines the code after a factory reset.

            Example: plugd new-code --state /tmp/lamp
            """)

    @OptionGroup var plug: DirectoryOptions
    @Flag(help: "Print only the code.")
    var plain = false

    func run() async throws {
        var random = SystemRandomNumberGenerator()
        let code = SetupCode(drawnFrom: &random)
        _ = try await PanelClient.ask(.code(code), at: plug.directories)
        if plain { return print(code.text) }
        let id = (try? PlugLabel(state: plug.directories.state))?.id
        QRCode(code.scannedText(id))?.lines.forEach { print($0) }
        print("setup code  \(code.text)")
        if let id { print("plug id     \(id)") }
    }
}
