import ArgumentParser
import ConfigurationFiles
import DaemonClient
import HostSleep
import LinuxSystem
import Presentation
import SleepClient

struct Wake: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wake",
        abstract: "Wake a sleeping machine, and wait until it answers.",
        discussion: """
            A machine is a computer that sleeps, or has slept, at the sleep proxy of a plug of the running daemon: its name is the host name \
            without .local. Other machines are configured in ~/.config/smartplug/machines.toml or /etc/smartplug/machines.toml:

              ["Media Server"]
              mac = "00:11:22:33:44:55"
              address = "192.0.2.7"               # optional: the address to check
              password = "0a:0b:0c:0d:0e:0f"      # optional: the SecureOn password
              interface = "eth0"                  # optional: the interface that sends the magic packet

            A machine is awake when its network card answers for one of its addresses. Without an address, this computer must have \
            communicated with it recently. Exit status: 0 if the machine is awake, 1 if it did not wake.

            Examples:
              plugctl wake "Media Server"
              plugctl wake "Media Server" --timeout 2min --json
            """)

    @OptionGroup var daemon: DaemonOptions
    @Argument(help: "The name of the machine.")
    var machine: String
    @Option(help: "How long to wait for the machine.")
    var timeout = TimeSpan(Waker.limit)
    @Flag(help: "One JSON object: machine, outcome (awake, asleep), seconds.")
    var json = false

    func run() async throws {
        var isAwake = false
        try await saying {
            let known = try await MachineFile.known(daemon.daemon())
            guard let found = known.machine(machine) else {
                let names = known.machines.map { "\"\($0.name)\"" }.joined(separator: ", ")
                throw CLIError(
                    "no machine is called \"\(machine)\"\nhint: "
                        + (names.isEmpty
                            ? "add it to \(MachineFile.paths[0]); see plugctl help wake" : "known: \(names)"))
            }
            let outcome: WakeOutcome?
            do throws(WakeFault) {
                outcome = try await Waker.wake(found, limit: timeout.duration)
            } catch {
                throw CLIError("\(found.name): \(error)\nhint: check the interfaces with ip addr")
            }
            guard let outcome else { throw CancellationError() }
            isAwake = outcome != .didNotWake
            if json {
                Output.json(WakeRecord(found.name, outcome))
            } else {
                Output.safeLine("\(found.name): \(outcome)")
            }
        }
        if !isAwake { throw ExitCode.failure }
    }
}

/// The file with the machines that this computer can wake: the user's own file, otherwise the one in `/etc/smartplug`.
enum MachineFile {
    private static let name = "machines.toml"
    /// The paths of the file, which may contain the passwords of wake-ups.
    static let paths = usualPaths(name)

    static func read() throws(CLIError) -> KnownMachines {
        let found = try readUsualSettings(name, limit: KnownMachines.fileLimit) {
            bytes, path throws(ConfigurationError) in
            try KnownMachines(bytes, file: path)
        }
        return found ?? KnownMachines()
    }

    /// Returns the machines of the file, and those that the daemon has learned from its plugs. Other machines of the
    /// daemon are left out, because only the daemon has their passwords.
    static func known(_ daemon: DaemonClient?) async throws(CLIError) -> KnownMachines {
        var known = try read()
        for record in await records(daemon) where record.learned {
            if let machine = KnownMachine(learned: record.machine, card: record.mac, addresses: record.addresses) {
                known.add(machine)
            }
        }
        return known
    }

    /// Returns the machines of the daemon; none if it does not answer.
    static func records(_ daemon: DaemonClient?) async -> [MachineRecord] {
        (try? await daemon?.read([MachineRecord].self, "/api/v1/machines")) ?? []
    }

    /// Returns the machines of the file for rules and the dashboard. An invalid file is reported, and no machine is then known.
    static func machines() -> KnownMachines {
        do throws(CLIError) {
            return try read()
        } catch {
            complainOfFile("\(error)\nhint: correct the file and restart plugctl, which wakes no machine until then")
            return KnownMachines()
        }
    }
}
