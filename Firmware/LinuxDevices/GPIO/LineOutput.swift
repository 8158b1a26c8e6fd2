import CGPIOD
import Glibc
public import PlugHardware
import Synchronization

/// A GPIO line that the plug drives.
///
/// It is not touched before the first value is set, which takes it with this value at once. From then on it is held until the
/// process ends, or beyond that where a service manager keeps it: then the next process takes it over as it is.
/// Where nobody keeps it, the line of a process that was killed is the board's: its resistors, or its driver's default, decide.
public final class LineOutput: OutputLine {
    private enum State {
        case free
        /// `interface`: of the kernel, through which the descriptor is spoken to.
        case held(descriptor: Int32, interface: Int32)
    }

    /// The longest name of a consumer that the kernel keeps.
    private static let consumerLength = 31
    /// How often a line is asked for that a service manager has just been told to let go of, 20 ms apart: it is another process.
    private static let patience = 50

    private let part: String
    private let line: KeptLine
    private let claim: LineClaim
    private let manager: ServiceManager?
    /// A service manager was told to let go of this line, which may take it a while.
    private let isBeingDropped: Bool
    /// Held while the kernel sets the line: values arrive in the order in which they were set.
    private let state: Mutex<State>

    /// Finds the line and leaves it as it is.
    ///
    /// - Parameters:
    ///   - part: what the line is for, as a person knows it: "relay".
    ///   - manager: keeps the line over a crash and a restart.
    /// - Throws: there is no such line, there are two, or somebody has it.
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
                case .free: state = try take(active: active)
                case .held(let descriptor, let interface):
                    let error = cgpiod_set(descriptor, interface, active)
                    // The chip has gone. If it comes back, the line is taken anew.
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

    /// What a service manager kept of this line, if it is what its name says. All else that it kept of the line is dropped.
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

    private func take(active: Bool) throws(SystemError) -> State {
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
        guard error.number == EBUSY else {
            return HardwareFault(part: part, reason: LineCatalogue.reason(error.number, hint: true))
        }
        do {
            try LineCatalogue.read().find(.chip(line.key.chip, offset: line.key.offset)).checkFree()
            return HardwareFault(part: part, reason: "\(line.key) was in use a moment ago: try again")
        } catch {
            return HardwareFault(part: part, reason: error.description)
        }
    }
}
