import Appliance
import LinuxDevices
import LinuxSystem
import PlugConfiguration
import PlugHardware
import PlugService

/// The configured parts on the devices of this board. Nothing is switched here, and a missing device may appear later.
struct RealParts {
    private(set) var parts = PlugParts()
    private(set) var board: (meter: BoardMeter, calibration: CalibrationFile)?
    /// The checks whether each part is present, in the order in which `plugd check` prints them.
    private(set) var looks: [(part: String, look: @Sendable () throws(HardwareFault) -> Void)] = []

    /// Creates the parts.
    /// - Parameter manager: Keeps the line of a plain relay while no plugd runs. Nil if no line is to be taken over.
    init(_ plug: PlugConfiguration, directories: PlugDirectories, manager: ServiceManager?) {
        if let relay = plug.relay { add(relay, manager) }
        if let button = plug.button { add(button) }
        if let light = plug.light {
            let line = line(light, "light")
            parts.lamp = LineLamp(line)
        }
        if let meter = plug.meter { add(meter, directories) }
        if let dimmer = plug.dimmer { add(dimmer) }
        if let path = plug.thermometer {
            let thermometer = KernelThermometer(file: FileAttribute(path: path))
            parts.thermometer = thermometer
            looks.append(("thermometer", { () throws(HardwareFault) in _ = try thermometer.temperature() }))
        }
    }

    private mutating func line(
        _ line: LineConfiguration, _ part: String, keptBy manager: ServiceManager? = nil
    ) -> LateLine {
        let late = LateLine { () throws(HardwareFault) in
            try LineOutput(line.place.board, for: part, isActiveLow: line.isActiveLow, keptBy: manager)
        }
        looks.append((part, { () throws(HardwareFault) in try late.open() }))
        return late
    }

    private mutating func add(_ relay: RelayConfiguration, _ manager: ServiceManager?) {
        switch relay.kind {
        case .plain(let place): parts.relay = PlainRelay(line(place, "relay", keptBy: manager))
        case .latching(let on, let off, let pulse):
            parts.relay = LatchingRelay(
                on: line(on, "relay's on coil"), off: line(off, "relay's off coil"), pulse: pulse, after: after)
        }
    }

    private mutating func add(_ button: ButtonConfiguration) {
        let late = LateButton { () throws(HardwareFault) in
            try LineButton(
                button.line.place.board, isActiveLow: button.line.isActiveLow, bias: button.bias.board,
                debounce: button.debounce)
        }
        parts.button = late
        looks.append(("button", { () throws(HardwareFault) in try late.open() }))
    }

    private mutating func add(_ dimmer: DimmerConfiguration) {
        let late = LateDimmer { () throws(HardwareFault) in
            let channel = try SysfsPWM(
                chip: dimmer.chip, channel: dimmer.channel, frequency: dimmer.frequency,
                isInverted: dimmer.isInverted)
            return PWMDimmer(channel, minimum: dimmer.minimum, gamma: dimmer.gamma)
        }
        parts.dimmer = late
        looks.append(("dimmer", { () throws(HardwareFault) in try late.open() }))
    }

    private mutating func add(_ meter: MeterConfiguration, _ directories: PlugDirectories) {
        let file = CalibrationFile(meter.calibration ?? directories.state + "/calibration.toml")
        let board = BoardMeter(file.read().calibration, meter.driver)
        parts.meter = board
        self.board = (board, file)
        looks.append(("meter", { () throws(HardwareFault) in _ = try board.measure() }))
    }
}

extension LineConfiguration.Place {
    fileprivate var board: LinePlace {
        switch self {
        case .named(let name): .named(name)
        case .numbered(let chip, let offset): .chip(chip, offset: UInt32(offset))
        }
    }
}

extension ButtonConfiguration.Bias {
    fileprivate var board: LineBias {
        switch self {
        case .pullUp: .pullUp
        case .pullDown: .pullDown
        case .none: .none
        case .asIs: .asIs
        }
    }
}
