import ProtocolCore
public import Recordings

/// The load of a simulated plug.
public enum PluggedLoad: Hashable, Sendable, CustomStringConvertible {
    /// No load is plugged in.
    case nothing
    /// A simulated appliance in a mode.
    case appliance(SimulatedAppliance, LoadMode)
    /// A fixed power in tenths of a watt, without noise.
    case fixed(deciwatts: Int32)
    /// A recording that plays from the moment it is plugged in, with or without power.
    case recording(Playback)

    /// The text that ``parse(_:replacing:)`` accepts, except for a recording.
    public var description: String {
        switch self {
        case .nothing: "unplugged"
        case .appliance(let appliance, let mode): "\(appliance.rawValue) \(mode.rawValue)"
        case .fixed(let deciwatts): "\(Double(deciwatts) / 10) W"
        case .recording: "recording"
        }
    }
}

/// A load over time: its kind, its mode and the time of the last change, and its time with power.
struct SimulatedLoad: Sendable {
    private(set) var plugged: PluggedLoad
    private var pluggedAt: Instant
    private var setAt: Instant
    private var poweredSince: Instant?
    /// The time with power in this mode before the last switch-off.
    private var operatedBefore = Duration.zero
    private let noise: Noise
    private let speed: Double

    /// - Parameter speed: how many times faster than real time an appliance runs; a recording has its own speed.
    init(_ plugged: PluggedLoad, seed: UInt64, speed: Double, now: Instant) {
        self.plugged = plugged
        noise = Noise(seed: seed)
        self.speed = speed
        pluggedAt = now
        setAt = now
    }

    mutating func change(to new: PluggedLoad, now: Instant) {
        if !plugged.isSameThing(as: new) { pluggedAt = now }
        plugged = new
        setAt = now
        operatedBefore = .zero
    }

    mutating func setPower(_ on: Bool, now: Instant) {
        guard on != (poweredSince != nil) else { return }
        operatedBefore = operated(now)
        poweredSince = on ? now : nil
    }

    /// Returns the power that the load draws now: exactly zero if the plug is off.
    func draw(now: Instant, level: Double, volts: Double) -> Draw {
        guard let poweredSince else { return .nothing }
        switch plugged {
        case .nothing:
            return .nothing
        case .fixed(let deciwatts):
            return Draw(watts: Double(deciwatts) / 10 * level, powerFactor: 1)
        case .recording(let playback):
            return Draw(watts: Double(playback.deciwatts(after: now - pluggedAt)) / 10, powerFactor: 0.95)
        case .appliance(let appliance, let mode):
            let moment = LoadMoment(
                mode: mode, time: (now - pluggedAt).inSeconds * speed,
                sinceSwitched: (now - max(setAt, poweredSince)).inSeconds * speed,
                operated: operated(now).inSeconds * speed, level: level, volts: volts, noise: noise)
            return appliance.model.draw(moment)
        }
    }

    private func operated(_ now: Instant) -> Duration {
        operatedBefore + (poweredSince.map { now - max($0, setAt) } ?? .zero)
    }
}

extension PluggedLoad {
    fileprivate func isSameThing(as other: PluggedLoad) -> Bool {
        switch (self, other) {
        case (.appliance(let left, _), .appliance(let right, _)): left == right
        case (.nothing, .nothing), (.fixed, .fixed): true
        case (.appliance, _), (.nothing, _), (.fixed, _), (.recording, _): false
        }
    }
}
