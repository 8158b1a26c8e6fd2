import ArgumentParser
import LinuxSystem
import PlugHardware
import PlugService

struct Calibrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract: "Calibrate the meter with a load of known power.",
        discussion: """
            Plug in a resistive load of at least 60 W (an incandescent lamp or a heater; 0.5 W on a low-voltage bench), turn the
            plug on, and wait until the load is warm. The plug keeps running and uses the new calibration at once. A calibration
            that would make the meter less accurate is refused.

            Example: plugd calibrate --power 100 --voltage 231.5
            """)

    @OptionGroup var plug: DirectoryOptions

    @Option(parsing: .unconditional, help: "The power of the load in watts.")
    var power: Double

    @Option(parsing: .unconditional, help: "The voltage in volts, measured with a voltmeter.")
    var voltage: Double?

    @Option(help: "The plug's configuration, if plugd is not running. (default: \(usualConfiguration))")
    var config: String?

    func validate() throws {
        guard power.isFinite, power > 0 else { throw ValidationError("--power must be more than 0 W") }
        guard voltage.map({ $0.isFinite && $0 > 0 }) ?? true else {
            throw ValidationError("--voltage must be more than 0 V")
        }
    }

    func run() async throws {
        let load = KnownLoad(power: power, voltage: voltage)
        do {
            print(try await PlugCalibration.perform(load, at: plug.directories) { try board() })
        } catch let error as FileError {
            throw CLIError(error)
        } catch let fault as HardwareFault {
            throw CLIError("\(fault)")
        } catch let fault as CalibrationFault {
            throw CLIError("\(fault)\nThe calibration was not changed.")
        }
    }

    private func board() throws -> (meter: BoardMeter, calibration: CalibrationFile) {
        guard let plug = try readConfiguration(config), plug.meter != nil else {
            throw CLIError(
                """
                plugd is not running, and no configuration names the meter
                hint: start plugd, or use --config
                """)
        }
        let real = RealParts(plug, directories: self.plug.directories, manager: nil)
        return real.board!
    }
}
