import CGPIOD
import Glibc
import LinuxSystem
public import PlugHardware
import Synchronization

/// A GPIO line that the plug drives.
///
/// Setting the first value requests the line with this value; before that the line is untouched. From then on the
/// process holds the line until the process ends. If a service manager keeps the line, the next process adopts the line
/// unchanged. Without a service manager, the board's resistors or its driver's default determine the line after a
/// crash.
public final class LineOutput: OutputLine {
    private enum State {
        case free
        /// The descriptor, and the kernel interface to use with it.
        case held(descriptor: Int32, interface: Int32)
    }

    /// The longest consumer name that the kernel stores.
    private static let consumerLength = 31
    /// The number of attempts, 20 ms apart, to request a line that the service manager is still releasing.
    private static let patience = 50

    private let part: String
    private let line: KeptLine
    private let claim: LineClaim
    private let manager: ServiceManager?
    /// True if the service manager was asked to release this line, which may take some time.
    private let isBeingDropped: Bool
    /// The lock is held while the kernel sets the line, so that values arrive in their order.
    private let state: Mutex<State>

    /// Finds the line and leaves it unchanged.
    ///
    /// - Parameters:
    ///   - part: the purpose of the line for the user, such as "relay".
    ///   - manager: keeps the line during crashes and restarts.
    /// - Throws: if the line does not exist, is ambiguous, or is in use.
    public init(
        _ place: LinePlace, for part: String, isActiveLow: Bool, keptBy manager: ServiceManager? = nil
    ) throws(HardwareFault) {
        self.part = "\(part) on line \(place)"
        self.manager = manager
        do {
            var found = try LineCatalogue.read().find(place.resolved)
            claim = try LineClaim(found, for: part)
            line = KeptLine(
                key: found.key, isActiveLow: isActiveLow,
                consumer: String(decoding: "plugd \(part)".utf8.prefix(Self.consumerLength), as: UTF8.self))
            let (adopted, isDropped) = Self.adopt(line, found.line, from: manager)
            isBeingDropped = isDropped
            if isDropped { found.line.isUsed = false }
            if let adopted {
                state = Mutex(.held(descriptor: adopted.descriptor, interface: adopted.interface))
            } else {
                try found.checkFree()
                state = Mutex(.free)
            }
        } catch {
            throw HardwareFault(part: self.part, reason: error.description)
        }
    }

    deinit {
        state.withLock { if case .held(let descriptor, _) = $0 { close(descriptor) } }
    }

    public func set(active: Bool) throws(HardwareFault) {
        do {
            try state.withLock { state throws(SystemError) in
                switch state {
                case .free: state = try request(active: active)
                case .held(let descriptor, let interface):
                    let error = cgpiod_set(descriptor, interface, active)
                    // The chip was removed. If it returns, the line is requested again.
                    if error == ENODEV {
                        close(descriptor)
                        manager?.drop(line.name)
                        state = .free
                    }
                    try SystemError.check(error)
                }
            }
        } catch {
            throw fault(error)
        }
    }

    /// Takes the stored descriptor of the line from the service manager, if the line in the kernel has the properties
    /// that the descriptor's name states. All other stored descriptors of the line are dropped.
    private static func adopt(
        _ line: KeptLine, _ now: LineCatalogue.Line, from manager: ServiceManager?
    ) -> (adopted: (descriptor: Int32, interface: Int32)?, isDropped: Bool) {
        guard let manager else { return (nil, false) }
        var isDropped = false
        for name in manager.names where name != line.name && line.isSameLine(as: name) {
            manager.drop(name)
            isDropped = true
        }
        guard let descriptor = manager.take(line.name) else { return (nil, isDropped) }
        let interface = cgpiod_interface_of(descriptor)
        guard interface != 0, line.matches(now) else {
            close(descriptor)
            manager.drop(line.name)
            return (nil, true)
        }
        return ((descriptor, interface), isDropped)
    }

    private func request(active: Bool) throws(SystemError) -> State {
        let chip = try GPIOChip(path: "/dev/" + line.key.chip)
        var descriptor: Int32 = -1
        var error: Int32 = 0
        for attempt in 1...(isBeingDropped ? Self.patience : 1) {
            error = cgpiod_take_output(
                chip.pointer, line.key.offset, line.isActiveLow, active, line.consumer, &descriptor)
            guard error == EBUSY, attempt < Self.patience, isBeingDropped else { break }
            usleep(20_000)
        }
        try SystemError.check(error)
        manager?.keep(descriptor, as: line.name)
        return .held(descriptor: descriptor, interface: cgpiod_interface_of(descriptor))
    }

    private func fault(_ error: SystemError) -> HardwareFault {
        guard error.code == EBUSY else {
            return HardwareFault(part: part, reason: LineCatalogue.reason(error.code, hint: true))
        }
        do {
            try LineCatalogue.read().find(.chip(line.key.chip, offset: line.key.offset)).checkFree()
            return HardwareFault(part: part, reason: "\(line.key) is in use: try again")
        } catch {
            return HardwareFault(part: part, reason: error.description)
        }
    }
}
