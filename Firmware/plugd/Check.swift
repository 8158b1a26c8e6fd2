import ArgumentParser
import BrokerConfiguration
import HomeKit
import LargeNumbers
import LinuxNetwork
import LinuxSystem
import MQTT
import PlugConfiguration
import PlugHardware
import PlugService

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a plug's configuration and hardware parts.",
        discussion: """
            Nothing is switched. Stop plugd first, because it has exclusive access to the lines. Run the command as plugd's user to
            find missing permissions.

            Example: plugd check --config plugd.toml
            """)

    @OptionGroup var plug: DirectoryOptions

    @Option(help: "The plug's configuration. (default: \(usualConfiguration))")
    var config: String?

    /// A time in which every meter chip has its first values after the set-up.
    private static let settling = Duration.milliseconds(300)

    func run() async throws {
        guard let plug = try readConfiguration(config) else {
            throw CLIError("\(usualConfiguration) does not exist\nhint: use --config")
        }
        let directories = self.plug.directories
        let real = RealParts(plug, directories: directories, manager: nil)
        var missing = 0
        for fault in directories.faults {
            missing += 1
            print("\(fault)" + (fault.hint.map { "\nhint: \($0)" } ?? ""))
        }
        if let warning = real.board?.calibration.read().warning {
            missing += 1
            print("calibration: \(warning)")
        }
        if let broker = plug.broker {
            let faults = brokerFaults(broker)
            missing += faults.count
            if faults.isEmpty {
                print(
                    "broker: libmosquitto and its dependencies are available; plugd status shows whether the broker answers"
                )
            }
            for fault in faults { print("broker: \(fault)") }
        }
        if plug.homeKit != nil {
            do throws(HomeKitError) {
                _ = try GMPArithmetic()
                print("homekit: libgmp is available")
            } catch {
                missing += 1
                print("homekit: \(error)")
            }
        }
        if let matter = plug.matter {
            let fault = MatterSettings(matter).fault
            missing += fault == nil ? 0 : 1
            print("matter: " + (fault ?? "the attestation credentials and libcrypto are available"))
        }
        if let fault = plug.wideArea.flatMap(keyFault) {
            missing += 1
            print("wide_area: \(fault)")
        }
        for (part, look) in real.looks {
            if let fault = await fault(look) {
                missing += 1
                print("\(fault)")
            } else {
                print("\(part): ok")
            }
        }
        if let crash = directories.lastCrash {
            print("the firmware crashed in an earlier run; its crash report:\n\(crash.report)", terminator: "")
        }
        guard missing == 0 else { throw ExitCode.failure }
    }

    /// Returns the reasons, apart from the network, why a connection to the broker cannot be opened.
    private func brokerFaults(_ broker: BrokerSettings) -> [String] {
        var faults = broker.account.faults.map { "\($0)" + ($0.hint.map { "\nhint: \($0)" } ?? "") }
        if let fault = BrokerLibrary.fault {
            faults.append("libmosquitto is not available: \(fault)\nhint: apt install libmosquitto1")
        }
        return faults
    }

    /// Returns the reason why the key of the domain cannot be used, or nil.
    private func keyFault(_ domain: DomainSettings) -> String? {
        do {
            _ = try domain.sharedKey()
            return nil
        } catch {
            return "\(error)" + ((error as? FileError)?.hint.map { "\nhint: \($0)" } ?? "")
        }
    }

    /// Runs a check, and runs it again if it fails. The second result counts, because the first call only sets up a
    /// meter's chip; see ``PowerMeter``.
    private func fault(_ look: () throws(HardwareFault) -> Void) async -> HardwareFault? {
        guard (try? look()) == nil else { return nil }
        try? await Task.sleep(for: Self.settling)
        do {
            try look()
            return nil
        } catch {
            return error
        }
    }
}
