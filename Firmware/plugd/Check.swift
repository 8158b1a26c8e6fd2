import ArgumentParser
import BrokerConfiguration
import HomeKit
import LargeNumbers
import MQTT
import PlugConfiguration
import PlugHardware
import PlugService

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Look whether a plug's configuration is right and its parts are there.",
        discussion: """
            Nothing is switched. To be used while no plugd runs: one that does has the lines for itself. Run it as plugd's
            user to see what that one may not open.

            Example: plugd check --config plugd.toml
            """)

    @OptionGroup var plug: DirectoryOptions

    @Option(help: "The plug's configuration. (default: \(usualConfiguration))")
    var config: String?

    /// The longest averaging time of a meter chip, after which its first reading is available.
    private static let settling = Duration.milliseconds(300)

    func run() async throws {
        guard let plug = try readConfiguration(config) else {
            throw Complaint("there is no \(usualConfiguration)\nhint: give --config")
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
                print("broker: libmosquitto and what it needs are there; plugd status tells whether it answers")
            }
            for fault in faults { print("broker: \(fault)") }
        }
        if plug.homeKit != nil {
            do throws(ArithmeticFault) {
                _ = try GMPArithmetic()
                print("homekit: libgmp is there")
            } catch {
                missing += 1
                print("homekit: \(error)")
            }
        }
        for (part, look) in real.looks {
            if let fault = await fault(look) {
                missing += 1
                print("\(fault)")
            } else {
                print("\(part): it is there")
            }
        }
        if let crash = directories.lastCrash {
            print("the firmware did not end in order, as it says itself:\n\(crash.report)", terminator: "")
        }
        guard missing == 0 else { throw ExitCode.failure }
    }

    /// Returns the reasons, apart from the network, why a connection to the broker cannot be opened.
    private func brokerFaults(_ broker: BrokerSettings) -> [String] {
        var faults = broker.account.faults.map { "\($0)" + ($0.hint.map { "\nhint: \($0)" } ?? "") }
        if let fault = BrokerLibrary.fault {
            faults.append("libmosquitto is not there: \(fault)\nhint: apt install libmosquitto1")
        }
        return faults
    }

    /// Runs a check, and runs it again if it fails. The second result counts, because a meter has no reading at first;
    /// see ``PowerMeter``.
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
