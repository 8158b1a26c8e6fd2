import PlugModel
import PlugProtocol

/// Lists and removes paired controllers for a local user.
extension PlugService {
    var controllerLines: String {
        let list = machine.access.controllers.all
        guard !list.isEmpty else { return "no controller is paired with this plug" }
        return list.map(line).joined(separator: "\n")
    }

    private func line(_ controller: PairedControllers.Controller) -> String {
        "\(controller.key.fingerprint.prefix(16))  \(controller.role.rawValue)  \(PanelText.printable(controller.name))"
    }

    func remove(_ beginning: String) throws(PanelError) -> String {
        let list = machine.access.controllers
        let meant = list.all.filter { $0.key.fingerprint.hasPrefix(beginning.lowercased()) }
        guard meant.count == 1, let controller = meant.first else {
            throw PanelError(
                "\(meant.isEmpty ? "no controller has" : "several controllers have") a fingerprint with this beginning\n"
                    + "hint: `plugd controllers` lists the fingerprints")
        }
        guard !list.isLastOwner(controller) else {
            throw PanelError(
                "\(PanelText.printable(controller.name)) is the last owner\nhint: `plugd reset` removes all pairings"
            )
        }
        handle(.server(.removeController(fingerprint: controller.key.fingerprint)))
        return "removed: " + line(controller)
    }
}
