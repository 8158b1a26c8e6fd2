import LinuxDevices
import LinuxSystem
import PlugConfiguration
import PlugHardware
import PlugService

extension MeterConfiguration {
    /// A closure that creates the driver of this meter.
    var driver: BoardMeter.Make {
        let bus = bus
        return { (calibration, isCalibrating) throws(HardwareFault) in
            /// The limits of the chip with the configured no-load power, or ``MeterLimits/forCalibration`` for a
            /// calibration run.
            func limits(_ usual: MeterLimits) -> MeterLimits {
                guard !isCalibrating else { return usual.forCalibration }
                var limits = usual
                if let noLoad { limits.noLoadPower = noLoad }
                return limits
            }
            switch kind {
            case .ade7953(let chip, let channel):
                return ADE7953(
                    bus: bus!, address: chip.address,
                    board: ADE7953.Board(channel: channel == .a ? .a : .b, isReversed: isReversed),
                    calibration: calibration, limits: limits(ADE7953.limits), clock: { BootClock.now })
            case .ina219(let chip, let ohms):
                return INA219(
                    bus: bus!, address: chip.address, shuntOhms: ohms, isReversed: isReversed,
                    calibration: calibration, limits: limits(INA219.limits(shuntOhms: ohms)))
            case .ina226(let chip, let ohms):
                return INA226(
                    bus: bus!, address: chip.address, shuntOhms: ohms, isReversed: isReversed,
                    calibration: calibration, limits: limits(INA226.limits(shuntOhms: ohms)))
            case .ina260(let chip):
                return INA260(
                    bus: bus!, address: chip.address, isReversed: isReversed, calibration: calibration,
                    limits: limits(INA260.limits))
            case .hwmon(let attributes):
                return try KernelMeter(
                    hwmon: try attributes.files("/sys/class/hwmon/hwmon"), isReversed: isReversed,
                    calibration: calibration, limits: limits(KernelMeter.limits))
            case .iio(let attributes):
                return try KernelMeter(
                    iio: try attributes.files("/sys/bus/iio/devices/iio:device"), isReversed: isReversed,
                    calibration: calibration, limits: limits(KernelMeter.limits))
            }
        }
    }

    /// The I²C bus of the meter, opened at the first transfer, or nil for kernel drivers.
    var bus: I2CDevice? {
        switch kind {
        case .ade7953(let chip, _), .ina219(let chip, _), .ina226(let chip, _), .ina260(let chip):
            I2CDevice(path: chip.bus)
        case .hwmon, .iio: nil
        }
    }
}

extension MeterConfiguration.Attributes {
    /// The number of device numbers to try, from 0. Boards have fewer devices of one kind.
    private static let most = 64

    /// Returns a closure that opens the attribute files of the device by name.
    ///
    /// - Parameter devices: the path of the devices of this kind without their numbers.
    fileprivate func files(
        _ devices: String
    ) throws(HardwareFault) -> (String) -> (any AttributeFile)? {
        let folder: String
        switch self {
        case .directory(let path): folder = path
        case .named(let name):
            let folders = (0..<Self.most).map { "\(devices)\($0)" }
            guard let found = folders.first(where: { (try? FileAttribute(path: $0 + "/name").read()) == name }) else {
                throw HardwareFault(
                    part: "meter",
                    reason:
                        "the kernel has no device \"\(name)\" in \(devices)*; check that its driver is loaded: `grep . "
                        + "\(devices)*/name` lists the devices")
            }
            folder = found
        }
        return { name in
            let file = FileAttribute(path: folder + "/" + name)
            return (try? file.read()) == nil ? nil : file
        }
    }
}
