import Glibc
import LinuxSystem
public import PlugHardware
import ProtocolCore
import Synchronization

/// A channel of pulse-width modulation in /sys/class/pwm (Documentation/driver-api/pwm.rst of the kernel).
///
/// The kernel keeps the setting when the process ends, so a light does not flicker while plugd restarts.
public final class SysfsPWM: PWMChannel {
    /// The number of checks, 10 ms apart, that wait for udev to set the group of an exported channel.
    private static let patience = 200

    /// The period in nanoseconds.
    public let period: UInt64
    private let part: String
    private let folder: String
    private let polarity: String
    /// The descriptor of the file `duty_cycle`, which has the active time. It stays open, because a transition writes
    /// the file fifty times per second. The lock is held during a write.
    private let duty: Mutex<Int32?>

    /// Opens the channel and leaves it unchanged until the first value is set.
    ///
    /// - Parameters:
    ///   - frequency: the frequency in Hz, above 0.
    ///   - isInverted: true if the output is low while it is active.
    /// - Throws: if the channel does not exist or is not accessible.
    public convenience init(chip: Int, channel: Int, frequency: Double, isInverted: Bool) throws(HardwareFault) {
        try self.init(
            chip: chip, channel: channel, frequency: frequency, isInverted: isInverted, base: "/sys/class/pwm",
            pause: { usleep(10_000) })
    }

    /// - Parameter pause: waits some milliseconds.
    init(
        chip: Int, channel: Int, frequency: Double, isInverted: Bool, base: String, pause: () -> Void
    ) throws(HardwareFault) {
        precondition(frequency > 0 && frequency <= 1e9, "the frequency must be above 0 and at most 1 GHz")
        period = UInt64((1e9 / frequency).rounded())
        part = "PWM channel \(channel) of pwmchip\(chip)"
        polarity = isInverted ? "inversed" : "normal"
        let device = "\(base)/pwmchip\(chip)"
        folder = "\(device)/pwm\(channel)"
        duty = Mutex(nil)
        guard SystemFile.exists(device) else {
            throw HardwareFault(
                part: part,
                reason: "there is no \(device): on a Raspberry Pi add dtoverlay=pwm to config.txt and restart it; "
                    + "ls \(base) lists all chips")
        }
        if let text = try? SystemFile.read(device + "/npwm"), let count = Int(text), !(0..<count).contains(channel) {
            throw HardwareFault(part: part, reason: "the chip has \(count) channels, counted from 0")
        }
        if !SystemFile.exists(folder) { try export("\(channel)", in: device) }
        for _ in 0..<Self.patience where access(folder + "/duty_cycle", W_OK) != 0 { pause() }
        guard access(folder + "/duty_cycle", W_OK) == 0 else {
            throw fault(SystemError(errno), at: folder + "/duty_cycle")
        }
    }

    deinit { duty.withLock { if let descriptor = $0 { close(descriptor) } } }

    public func set(activeFor nanoseconds: UInt64) throws(HardwareFault) {
        precondition(nanoseconds <= period, "the active time must not exceed the period")
        try duty.withLock { duty throws(HardwareFault) in
            if let open = duty {
                do throws(SystemError) {
                    return try SystemFile.write("\(nanoseconds)", to: open)
                } catch {
                    // The device was removed. If the channel is exported again, the next value sets it up.
                    close(open)
                    duty = nil
                    throw fault(error, at: folder + "/duty_cycle")
                }
            }
            duty = try begin(activeFor: nanoseconds)
        }
    }

    /// Sets up the channel with this value. Changes only settings that differ from those of a previous process.
    private func begin(activeFor nanoseconds: UInt64) throws(HardwareFault) -> Int32 {
        if try read("polarity", orElse: "normal") != polarity {
            // A running channel cannot change its polarity.
            if try read("enable") != "0" { try write("0", to: "enable") }
            try write(polarity, to: "polarity")
        }
        if try read("period") != "\(period)" {
            // The active time must not exceed the old or the new period.
            if let active = UInt64(try read("duty_cycle")), active > min(period, nanoseconds) {
                try write("\(min(active, nanoseconds))", to: "duty_cycle")
            }
            try write("\(period)", to: "period")
        }
        try write("\(nanoseconds)", to: "duty_cycle")
        if try read("enable") != "1" { try write("1", to: "enable") }
        let descriptor = open(folder + "/duty_cycle", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault(SystemError(errno), at: folder + "/duty_cycle") }
        return descriptor
    }

    private func export(_ channel: String, in device: String) throws(HardwareFault) {
        do {
            try SystemFile.write(channel, to: device + "/export")
        } catch {
            guard error.code == EBUSY else { throw fault(error, at: device + "/export") }
            // Another process exported the channel in the meantime, or the kernel uses it.
            if SystemFile.exists(folder) { return }
            throw HardwareFault(
                part: part,
                reason: "a kernel driver uses it, such as a fan's: remove the driver or choose a different channel")
        }
    }

    /// - Parameter missing: the value to return if the file does not exist.
    private func read(_ name: String, orElse missing: String? = nil) throws(HardwareFault) -> String {
        do {
            return try SystemFile.read("\(folder)/\(name)")
        } catch {
            if error.code == ENOENT, let missing { return missing }
            throw fault(error, at: "\(folder)/\(name)")
        }
    }

    private func write(_ text: String, to name: String) throws(HardwareFault) {
        do { try SystemFile.write(text, to: "\(folder)/\(name)") } catch { throw fault(error, at: "\(folder)/\(name)") }
    }

    private func fault(_ error: SystemError, at path: String) -> HardwareFault {
        let hint =
            switch error.code {
            case EACCES, EPERM: ": let a udev rule give /sys/class/pwm to a group of plugd's user, such as gpio"
            case EINVAL: ": the chip does not support this frequency or polarity: try a different one"
            case EBUSY: ": another channel of the chip is in use with a different frequency: use the same for both"
            case ENODEV, ENOENT: ": has its driver been removed?"
            default: ""
            }
        return HardwareFault(part: part, reason: "\(path): \(error.description.lowercased())\(hint)")
    }
}
