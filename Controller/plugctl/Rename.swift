import ArgumentParser
import Foundation
import PlugClient
import PlugModel
import Presentation

struct Rename: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Rename a plug.",
        discussion: """
            The plug keeps the new name across restarts and until a factory reset; it overrides the name in the plug's configuration. If
            another plug already has the name, a number is added, as in "Lamp (2)". Clients keep following the plug, and the rules of the
            daemon keep working: a rule stays bound to the plug under its old name.

            Example: plugctl rename "Plug 3f9a02" "Living Room Lamp"
            """)

    @OptionGroup var network: PlugOptions
    @Argument(help: "The plug's name.")
    var name: String
    @Argument(help: "The new name, 1 to 63 bytes of UTF-8.")
    var newName: String
    @Flag(help: "Print a JSON object: plug (its old name), name.")
    var json = false

    /// The longest time to wait for the new name. Probing takes one second, and one more for each number that is also
    /// in use.
    private static let patience = Duration.seconds(10)

    func validate() throws {
        guard (1...PlugWire.maximumName).contains(newName.utf8.count) else {
            throw ValidationError("a name must have 1 to \(PlugWire.maximumName) bytes of UTF-8")
        }
    }

    func run() async throws {
        try await network.withConnected(name) { plug, description in
            guard description.capabilities.contains(.rename) else {
                throw CLIError("\(plug.name): its firmware does not support renaming\nhint: update the firmware")
            }
            try await plug.obey(.rename(newName))
            guard let taken = description.name == newName ? newName : await nextName(of: plug, after: description.name)
            else {
                throw CLIError(
                    """
                    \(plug.name): the plug accepted the name "\(newName)" but is not announced under it yet
                    hint: `plugctl browse` shows its name; another plug may have the name already
                    """)
            }
            try await PairedPlugs().rename(description.id, to: PlugNames(given: newName, announced: taken))
            let record = RenameRecord(plug: plug.name, name: taken)
            if json { Output.json(record) } else { Output.safeLine(record.text(wanted: newName)) }
        }
    }

    /// Returns the announced name; nil if the plug does not report it in time. A plug that gets its old numbered name
    /// again reports no change, so the old name is returned then.
    private func nextName(of plug: FollowedPlug, after old: String) async -> String? {
        await told(by: plug) ?? (isNumbered(old) ? old : nil)
    }

    /// True if the name is the requested one with a number, such as "Lamp (2)". A long name is truncated before the
    /// number.
    private func isNumbered(_ name: String) -> Bool {
        guard name.hasSuffix(")"), let start = name.range(of: " (", options: .backwards) else { return false }
        let number = name[start.upperBound...].dropLast()
        return !number.isEmpty && number.allSatisfy(\.isNumber) && newName.hasPrefix(name[..<start.lowerBound])
    }

    private func told(by plug: FollowedPlug) async -> String? {
        await withTaskGroup(of: String?.self) { group in
            group.addTask {
                for await names in plug.renames { return names.announced }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: Self.patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}

extension FollowedPlug {
    /// Sends the command and converts a refusal into an error for the user.
    func obey(_ command: PlugCommand) async throws {
        do {
            try await send(command)
        } catch let refusal as Refusal {
            throw CLIError("\(name): \(refusal.detail)" + (refusal.code.hint(for: name).map { "\nhint: \($0)" } ?? ""))
        }
    }
}
