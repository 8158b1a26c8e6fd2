import AddressService
import ArgumentParser
import FirmwareProcess
import LinuxDevices
import LinuxNetwork
import LinuxSystem
import Logging
import PlugService
import ProcessSetup

/// The entry point. Only address management and the sleep proxy need privileges. plugd drops all other privileges
/// first, on the main thread while no other thread exists.
@main
enum Entry {
    @MainActor static func main() async {
        ProcessSetup.reset()
        do {
            // The descriptors from the service manager are claimed before any file is opened.
            let manager = ServiceManager()
            let command = try Plugd.parseNamed()
            let plan = try (command as? Run)?.plan()
            if let directories = directories(of: command) {
                for directory in [directories.state, directories.runtime] { try requireAnswer(of: directory) }
                try Privileges.becomeOwner(of: directories.state)
            }
            let managesAddresses = plan.map { $0.addressing != .observe } ?? false
            // The DHCP client port needs a privilege that is dropped next. Without the port, plugd still works.
            let port = managesAddresses ? PortKeeper() : nil
            defer { withExtendedLifetime(port) {} }
            var kept: Set<Privileges.Capability> =
                if managesAddresses {
                    [.networkAdministration, .rawPackets]
                } else {
                    plan?.requiresRawPackets == true ? [.rawPackets] : []
                }
            if plan?.servesSetup == true { kept.insert(.lowPorts) }
            dropPrivileges(keeping: kept)
            if let plan { return try await plan.run(manager) }
            guard var asynchronous = command as? any AsyncParsableCommand else {
                var synchronous = command
                return try synchronous.run()
            }
            try await asynchronous.run()
        } catch {
            Plugd.exit(withError: error)
        }
    }

    /// The directories of the plug that the command uses. The command runs as their owner, because root without
    /// privileges has no access.
    private static func directories(of command: any ParsableCommand) -> PlugDirectories? {
        (command as? any PlugCommand)?.plug.directories
    }

    private static func requireAnswer(of directory: String) throws(CLIError) {
        do throws(FileError) { try FileStore().requireAnswer(of: directory) } catch { throw CLIError(error) }
    }

    @MainActor private static func dropPrivileges(keeping kept: Set<Privileges.Capability>) {
        do throws(Privileges.Refusal) {
            try Privileges.drop(keeping: kept)
        } catch {
            // The plug runs even if a privilege cannot be dropped, because the user needs it.
            Logger(label: "plugd") { StreamLogHandler.standardError(label: $0) }.warning("\(error)")
        }
    }
}

struct Plugd: AsyncParsableCommand {
    // Every command has an explicit name. Deriving it from the type takes as long as the rest of the start.
    static let configuration = CommandConfiguration(
        commandName: "plugd",
        abstract: "The firmware of a smart plug.",
        discussion: """
            plugd announces the plug by name, switches and dims it with acknowledgement, and reports its button and power meter to
            paired controllers.

            Try it without hardware:
              plugd run --name Lamp --state /tmp/lamp --simulate lamp
            """,
        version: plugdVersion,
        subcommands: [
            Run.self, Check.self, Status.self, ShowIdentity.self, Calibrate.self, Press.self, Load.self,
            Controllers.self, NewCode.self, RotateKey.self,
            Reset.self,
        ])
}

/// A command that accesses one plug by its directories.
protocol PlugCommand: SendableMetatype {
    var plug: DirectoryOptions { get }
}

extension Check: PlugCommand {}
extension Status: PlugCommand {}
extension ShowIdentity: PlugCommand {}
extension Calibrate: PlugCommand {}
extension Press: PlugCommand {}
extension Load: PlugCommand {}
extension Controllers: PlugCommand {}
extension NewCode: PlugCommand {}
extension RotateKey: PlugCommand {}
extension Reset: PlugCommand {}

/// The directories of the plug.
struct DirectoryOptions: ParsableArguments {
    @Option(
        help: "The directory for persistent state (flash). (default: $STATE_DIRECTORY, else /var/lib/plugd)",
        completion: .directory)
    var state: String?

    @Option(
        help: ArgumentHelp(
            "The directory for state that survives a restart of plugd but not a power failure, and for the panel's socket.",
            discussion: "(default: $RUNTIME_DIRECTORY, else /run/plugd with the default --state, else STATE/run)"),
        completion: .directory)
    var runtime: String?

    var directories: PlugDirectories {
        PlugDirectories(state: state, runtime: runtime)
    }
}
