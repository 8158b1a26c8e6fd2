import ArgumentParser
import PlugModel
import PlugService
import QRCode
import Storage

struct NewCode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new-code",
        abstract: "Give a running plug another setup code, and show it as text and as a QR code.",
        discussion: """
            The code before, also the one on the label, is dead at once. Who is paired stays so. What a reset does about it, the plug's
            configuration says: code_after_reset in [pairing].

            Example: plugd new-code --state /tmp/lamp
            """)

    @OptionGroup var plug: DirectoryOptions
    @Flag(help: "Only the code.")
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
