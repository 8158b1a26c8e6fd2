import ArgumentParser
import DurableFiles
import PlugHardware
import PlugService

struct Calibrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract: "Make the meter say what a load of known power takes.",
        discussion: """
            Plug in a resistive load of at least 60 W (an incandescent lamp, a heater; on a bench of low voltage 0.5 W), turn the
            plug on, wait until the load is warm. The plug need not be stopped: it uses what was found at once. What would make
            the meter worse is refused.

            Example: plugd calibrate --power 100 --voltage 231.5
            """)

    @OptionGroup var plug: DirectoryOptions

    @Option(parsing: .unconditional, help: "What the load takes, in watts.")
    var power: Double

    @Option(parsing: .unconditional, help: "What a voltmeter shows meanwhile, in volts.")
    var voltage: Double?

    @Option(help: "The plug's configuration, where no plugd runs. (default: \(usualConfiguration))")
    var config: String?

    func validate() throws {
        guard power.isFinite, power > 0 else { throw ValidationError("--power is more than 0 W") }
        guard voltage.map({ $0.isFinite && $0 > 0 }) ?? true else {
            throw ValidationError("--voltage is more than 0 V")
        }
    }

    func run() async throws {
        let load = KnownLoad(power: power, voltage: voltage)
        do {
            print(try await PlugCalibration.perform(load, at: plug.directories) { try board() })
        } catch let error as FileError {
            throw Complaint(error)
        } catch let fault as HardwareFault {
            throw Complaint("\(fault)")
        } catch let fault as CalibrationFault {
            throw Complaint("\(fault)\nThe calibration is as it was.")
        }
    }

    private func board() throws -> (meter: BoardMeter, calibration: CalibrationFile) {
        guard let plug = try readConfiguration(config), plug.meter != nil else {
            throw Complaint(
                """
                no plugd runs here, and no configuration says which meter there is
                hint: start plugd, or give --config
                """)
        }
        let real = RealParts(plug, directories: self.plug.directories, manager: nil)
        return real.board!
    }
}
