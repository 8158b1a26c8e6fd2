import CLinuxDevices
import Glibc
import LinuxSystem
public import PlugHardware
import Synchronization

/// An I²C bus of the kernel's i2c-dev. The chips on a bus share one value.
///
/// The bus is opened at the first transfer. If it is missing or its adapter was removed, each transfer tries to open it
/// again.
public final class I2CDevice: I2CBus {
    private struct Adapter {
        var descriptor: Int32
        /// False if the adapter only supports SMBus transfers.
        var takesAny: Bool
    }

    /// The path of the device file.
    public let path: String
    /// The lock is held during a transfer, so that transfers do not overlap.
    private let adapter = Mutex<Adapter?>(nil)

    /// Creates a bus without opening it.
    ///
    /// - Parameter path: the device file, such as /dev/i2c-1.
    public init(path: String) { self.path = path }

    deinit { adapter.withLock { if let descriptor = $0?.descriptor { close(descriptor) } } }

    /// Opens the bus if it is not open.
    public func check() throws(HardwareFault) {
        do {
            try adapter.withLock { adapter throws(SystemError) in
                if adapter == nil { adapter = try open() }
            }
        } catch {
            throw HardwareFault(part: "bus \(path)", reason: reason(error))
        }
    }

    public func transfer(to address: UInt8, write bytes: [UInt8], read count: Int) throws(BusFault) -> [UInt8] {
        precondition(bytes.count <= 8192 && (0...8192).contains(count), "a transfer has at most 8192 bytes")
        let result = adapter.withLock { adapter -> Result<[UInt8], BusFault> in
            do throws(SystemError) {
                if adapter == nil { adapter = try open() }
                return .success(try Self.transfer(adapter!, address, bytes, count))
            } catch {
                // The adapter was removed, or never existed.
                if error.code == ENODEV, let gone = adapter {
                    close(gone.descriptor)
                    adapter = nil
                }
                let isOpen = adapter != nil
                return .failure(BusFault(isOpen ? Self.reason(error) : .other(reason(error)), address: address))
            }
        }
        return try result.get()
    }

    private static func transfer(
        _ adapter: Adapter, _ address: UInt8, _ bytes: [UInt8], _ count: Int
    ) throws(SystemError) -> [UInt8] {
        var read = [UInt8](repeating: 0, count: count)
        let transfer = adapter.takesAny ? clinuxdevices_i2c_transfer : clinuxdevices_smbus_transfer
        try SystemError.check(
            transfer(adapter.descriptor, address, bytes, UInt16(bytes.count), &read, UInt16(count)))
        return read
    }

    private func open() throws(SystemError) -> Adapter {
        let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(errno) }
        var takesAny = false
        let error = clinuxdevices_i2c_takes_any(descriptor, &takesAny)
        guard error == 0 else {
            close(descriptor)
            throw SystemError(error)
        }
        return Adapter(descriptor: descriptor, takesAny: takesAny)
    }

    /// Returns the meaning of a transfer's error number (Documentation/i2c/fault-codes.rst of the kernel).
    static func reason(_ error: SystemError) -> BusFault.Reason {
        switch error.code {
        case ENXIO, EREMOTEIO: .noAcknowledge
        case ETIMEDOUT: .timedOut
        case EAGAIN: .arbitrationLost
        case EOPNOTSUPP: .other("the bus's adapter supports only SMBus, not this transfer")
        default: .other(error.description.lowercased())
        }
    }

    /// Returns the reason why the bus cannot be opened.
    func reason(_ error: SystemError) -> String {
        switch error.code {
        case ENOENT, ENXIO, ENODEV:
            "there is no bus \(path): on a Raspberry Pi add dtparam=i2c_arm=on to config.txt and restart it; "
                + "elsewhere modprobe i2c-dev, and i2cdetect -l lists the buses"
        case EACCES, EPERM:
            "permission denied for \(path): add plugd's user to the group i2c, or let a udev rule give the bus to a "
                + "group of this user"
        case ENOTTY: "\(path) is not an I²C bus: i2cdetect -l lists the buses"
        default: "\(path) cannot be opened: \(error.description.lowercased())"
        }
    }
}
