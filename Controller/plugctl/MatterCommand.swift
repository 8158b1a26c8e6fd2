import ArgumentParser
import PlugModel
import Presentation
import QRCode

struct MatterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "matter",
        abstract: "Show the Matter codes and fabrics of a plug, open its commissioning window, or remove fabrics.",
        discussion: """
            This requires the owner role. Matter is off until [matter] in plugd.toml turns it on. A controller can commission the plug only
            while the commissioning window is open: for 15 minutes after this command, after a long press of the plug's button, and after a
            start without fabrics.

            Examples:
              plugctl matter Lamp
              plugctl matter Lamp --open-window
              plugctl matter Lamp --remove 2
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Flag(help: "Open the commissioning window for 15 minutes.")
    var openWindow = false
    @Flag(help: "Close the commissioning window.")
    var closeWindow = false
    @Option(help: "Remove the fabric with this index; its sessions end at once.")
    var remove: UInt8?
    @Flag(help: "Remove all fabrics.")
    var removeAll = false
    @Flag(help: "Print only the fabrics.")
    var fabrics = false
    @Flag(
        help: """
            Print a JSON object: plug, id, setupPayload, manualCode, windowSeconds, enhanced, fabrics (each with index, fabricID, nodeID, \
            vendor, label, sessions).
            """)
    var json = false

    func validate() throws {
        guard !json || !fabrics else { throw ValidationError("--json and --fabrics cannot be combined") }
        guard [openWindow, closeWindow, remove != nil, removeAll].filter({ $0 }).count <= 1 else {
            throw ValidationError("--open-window, --close-window, --remove and --remove-all cannot be combined")
        }
        if let remove, !(1...254).contains(remove) {
            throw ValidationError("a fabric's index is between 1 and 254")
        }
    }

    private var order: MatterRequest {
        if openWindow { return .openWindow(PlugWire.longestMatterWindow) }
        if closeWindow { return .openWindow(.zero) }
        if removeAll { return .removeAll }
        return remove.map { .remove($0) } ?? .ask
    }

    func run() async throws {
        try await network.withConnected(name) { plug, description in
            let report = try await refusable(plug.name) { try await plug.manageMatter(order) }
            guard let report else { throw CLIError.unanswered(plug.name) }
            let record = MatterRecord(report, plug: plug.name, id: description.id)
            if json {
                Output.json(record)
            } else if fabrics {
                for line in record.fabricLines { Output.safeLine(line) }
            } else {
                if record.acceptsCodes {
                    for line in QRCode(record.setupPayload)?.lines ?? [] { Output.line(line) }
                }
                for line in record.lines { Output.safeLine(line) }
            }
        }
    }
}
