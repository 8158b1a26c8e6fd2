public import MatterSessions
public import MatterWire
public import ProtocolCore

/// The state of the plug that the Matter clusters show.
public struct PlugValues: Hashable, Sendable {
    /// A measurement of the meter.
    public struct Reading: Hashable, Sendable {
        /// Active power in mW. Negative if the load feeds power back.
        public var power: Int64
        /// Voltage in mV, or nil if the meter does not measure it.
        public var voltage: Int64?
        /// Current in mA, or nil if the meter does not measure it.
        public var current: Int64?
        /// The energy since the counter's start in mWh.
        public var energy: UInt64

        /// Creates a reading.
        public init(power: Int64, voltage: Int64?, current: Int64?, energy: UInt64) {
            (self.power, self.voltage, self.current, self.energy) = (power, voltage, current, energy)
        }
    }

    /// True if the load has power.
    public var isOn: Bool
    /// The level of a dimmer, 1 to 254, which is kept while the load is off; nil for a plug that does not dim.
    public var level: UInt8?
    /// The last measurement, or nil before the first one.
    public var reading: Reading?
    /// True while the protection keeps the relay open.
    public var isTripped: Bool

    /// Creates values.
    public init(isOn: Bool, level: UInt8? = nil, reading: Reading? = nil, isTripped: Bool = false) {
        (self.isOn, self.level, self.reading, self.isTripped) = (isOn, level, reading, isTripped)
    }
}

/// A gesture at the button.
public enum MatterPress: UInt8, Hashable, Sendable {
    case single = 0
    case double = 1
    case long = 2
}

/// A command of a controller to the plug.
public enum NodeCommand: Hashable, Sendable {
    /// Switches the load. With `offAfter`, the plug switches it off again after this time.
    case on(Bool, offAfter: Duration? = nil)
    /// Moves to a level of 1 to 254. `withOnOff` switches the load on with the level, or off at the lowest level.
    case level(UInt8, transition: Duration, withOnOff: Bool)
    /// Lets the plug's light blink for this time; zero ends it.
    case identify(Duration)
}

/// A DNS-SD service of the device (Matter 4.3). The host is the hardware address as 12 upper-case hexadecimal digits.
public struct MatterAnnouncement: Sendable, Equatable {
    /// The instance name.
    public var name: String
    /// The service type: `_matterc._udp` while commissioning is possible, `_matter._tcp` for each fabric.
    public var type: String
    /// The subtypes, such as `_L840` or `_I87E1B004E235A130`.
    public var subtypes: [String]
    /// The attributes of the TXT record.
    public var txt: [(String, String)]

    /// Creates an announcement.
    public init(name: String, type: String, subtypes: [String], txt: [(String, String)]) {
        (self.name, self.type, self.subtypes, self.txt) = (name, type, subtypes, txt)
    }

    public static func == (left: MatterAnnouncement, right: MatterAnnouncement) -> Bool {
        left.name == right.name && left.type == right.type && left.subtypes == right.subtypes
            && left.txt.elementsEqual(right.txt) { $0 == $1 }
    }
}

/// A fabric of the device, for status displays.
public struct MatterFabricSummary: Hashable, Sendable {
    /// The fabric index, 1 to 254.
    public var index: UInt8
    /// The fabric id.
    public var fabricID: UInt64
    /// The node id of this device in the fabric.
    public var nodeID: UInt64
    /// The vendor id of the fabric's administrator.
    public var vendor: UInt16
    /// The label that the administrator chose.
    public var label: String
    /// The number of open sessions.
    public var sessions: Int

    /// Creates a summary.
    public init(index: UInt8, fabricID: UInt64, nodeID: UInt64, vendor: UInt16, label: String, sessions: Int = 0) {
        (self.index, self.fabricID, self.nodeID) = (index, fabricID, nodeID)
        (self.vendor, self.label, self.sessions) = (vendor, label, sessions)
    }
}

/// A message for the log. None contains a secret.
public enum MatterNotice: Hashable, Sendable, CustomStringConvertible {
    /// The commissioning window was opened.
    case windowOpened(Duration, isEnhanced: Bool)
    /// The commissioning window was closed.
    case windowClosed
    /// A commissioner sent a wrong passcode. `tries` counts the failed handshakes of this window.
    case wrongPasscode(tries: Int, limit: Int)
    /// A handshake failed for another reason.
    case handshakeFailed(MatterPeer, MatterError)
    /// A commissioner armed the fail-safe.
    case failSafeArmed(Duration)
    /// The fail-safe expired, and the unfinished commissioning was undone.
    case failSafeExpired
    /// A fabric was added; commissioning is not finished yet.
    case fabricAdded(MatterFabricSummary)
    /// The operational certificate of a fabric was replaced.
    case fabricUpdated(MatterFabricSummary)
    /// A commissioner finished commissioning.
    case commissioned(MatterFabricSummary)
    /// A fabric was removed by a controller or by the owner.
    case fabricRemoved(MatterFabricSummary)
    /// The access control list of a fabric changed.
    case accessControlChanged(fabric: UInt8)
    /// A session was established.
    case sessionEstablished(SessionKind, MatterPeer)
    /// A subscription began.
    case subscribed(id: UInt32, fabric: UInt8?, maxInterval: Duration)
    /// A subscription ended because the subscriber did not confirm a report.
    case subscriptionLost(id: UInt32, fabric: UInt8?)
    /// The records could not be stored. The requests that caused the change were answered with a failure.
    case notStored
    /// The plug did not answer a command in time.
    case commandTimedOut

    public var description: String {
        switch self {
        case .windowOpened(let length, let isEnhanced):
            "the commissioning window is open for \(length.components.seconds) s"
                + (isEnhanced ? ", by a controller" : "")
        case .windowClosed: "the commissioning window is closed"
        case .wrongPasscode(let tries, let limit):
            "the passcode was wrong, try \(tries) of \(limit)"
                + (tries < limit ? "" : "; the commissioning window is closed")
        case .handshakeFailed(_, let error): "a handshake failed: \(error)"
        case .failSafeArmed(let length): "the fail-safe is armed for \(length.components.seconds) s"
        case .failSafeExpired: "the fail-safe expired, so the unfinished commissioning was undone"
        case .fabricAdded(let fabric): "\(Self.name(fabric)) was added"
        case .fabricUpdated(let fabric): "\(Self.name(fabric)) has a new certificate"
        case .commissioned(let fabric): "\(Self.name(fabric)) has commissioned this device"
        case .fabricRemoved(let fabric): "\(Self.name(fabric)) was removed"
        case .accessControlChanged(let fabric): "the access control list of fabric \(fabric) changed"
        case .sessionEstablished(.commissioning, _): "a commissioner opened a session"
        case .sessionEstablished(.operational(let peer), _):
            "node 0x\(String(peer.node, radix: 16, uppercase: true)) of fabric \(peer.fabric) opened a session"
        case .subscribed(let id, let fabric, let interval):
            "subscription \(id) of \(Self.name(fabric)) began, with a report every \(interval.components.seconds) s"
        case .subscriptionLost(let id, let fabric):
            "subscription \(id) of \(Self.name(fabric)) ended: its subscriber did not confirm a report"
        case .notStored: "the Matter records could not be stored"
        case .commandTimedOut: "the plug did not answer a command of a controller in time"
        }
    }

    private static func name(_ fabric: MatterFabricSummary) -> String {
        "fabric \(fabric.index)\(fabric.label.isEmpty ? "" : " (\(fabric.label))") of vendor \(fabric.vendor)"
    }

    private static func name(_ fabric: UInt8?) -> String { fabric.map { "fabric \($0)" } ?? "a commissioner" }
}

extension MatterDevice {
    /// An event of the network, the plug, the owner or the flash.
    public enum Event: MachineEvent, Sendable {
        /// Starts the machine. This is the first event.
        case started
        /// A datagram was received.
        case received([UInt8], from: MatterPeer)
        /// The plug's state may have changed.
        case looked(PlugValues)
        /// The button was pressed. `number` is the event's number in the plug's journal.
        case pressed(MatterPress, number: UInt64)
        /// The answer to ``Action/ask(_:_:from:)``. A late answer is ignored.
        case answered(UInt64, InteractionStatusCode)
        /// The answer to ``Action/store(_:)``.
        case stored(Bool)
        /// The button, the owner or the first start opens the commissioning window for this time; zero closes it.
        case opened(Duration)
        /// The owner removed a fabric, or all fabrics (nil).
        case removed(fabric: UInt8?)
        /// The owner renamed the plug.
        case renamed(String)
        /// The addresses of the network interface, 4 or 16 bytes each.
        case addresses([[UInt8]])
        /// The process ends. Subscribers receive the event ShutDown.
        case stopping
        case deadlineReached
    }

    /// An action for the shell. Actions are performed in order.
    public enum Action: Sendable {
        /// Sends a datagram.
        case send([UInt8], to: MatterPeer)
        /// Performs a command. Requires an answer with the same number, immediately or later.
        ///
        /// - from: the fabric and the node that sent the command, such as `1/000000000001B669`.
        case ask(UInt64, NodeCommand, from: String?)
        /// Stores the records in flash. Requires an answer. Only one store is in progress at a time.
        case store(MatterRecords)
        /// ``MatterDevice/announcements`` changed.
        case announce
        /// Receives the datagrams to these multicast addresses, 16 bytes each, and no longer those to others.
        case join(Set<[UInt8]>)
        /// Writes a message to the log.
        case notice(MatterNotice)
    }
}
