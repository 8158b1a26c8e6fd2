import ArgumentParser
import HomeKit
import HomeKitDoor
import MatterDoor
import PlugModel
import PlugService
import QRCode
import Storage
import WiFi

struct ShowIdentity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract:
            "Show the plug's current setup code, as text and as a QR code.",
        discussion: """
            The plug creates its code on its first start; `plugd new-code` replaces it. Anyone with the code can pair with the plug while
            its pairing window is open. If HomeKit or Matter was ever turned on, its setup code and QR code follow.

            Example: plugd identity --state /tmp/lamp
            """)

    @OptionGroup var plug: DirectoryOptions
    @Option(
        help:
            "The configuration. With [wifi] in it, the plug's own network follows. (default: \(usualConfiguration), if it exists)"
    )
    var config: String?
    @Flag(help: "Print only the code.")
    var plain = false

    func run() throws {
        let label: PlugLabel
        do {
            label = try PlugLabel(state: plug.directories.state)
        } catch {
            throw CLIError("\(error)")
        }
        if plain { return print(label.code.text) }
        QRCode(label.scannedText)?.lines.forEach { print($0) }
        print("setup code  \(label.code.text)")
        if let id = label.id { print("plug id     \(id)") }
        if (try? readConfiguration(config))?.wiFi != nil, let id = label.id, let code = label.printedCode {
            let network = WiFiMachine.Label(plug: id, code: code)
            print("")
            QRCode(network.scannedText)?.lines.forEach { print($0) }
            print("Wi-Fi setup  \(network.name), password \(network.password.secret)")
        }
        if let homeKit = label.homeKit.flatMap({ HomeKitLabel(line: $0) }) {
            print("")
            QRCode(homeKit.payload.text)?.lines.forEach { print($0) }
            print("HomeKit     \(homeKit.code)")
        }
        if let matter = label.matter.flatMap({ MatterLabel(line: $0) })?.payload {
            print("")
            QRCode(matter.qrText)?.lines.forEach { print($0) }
            print("Matter      \(matter.manualCode)")
            print("Matter QR   \(matter.qrText)")
        }
    }
}
