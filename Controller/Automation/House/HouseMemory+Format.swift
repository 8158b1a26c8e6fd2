public import PlugProtocol
public import ProtocolCore

/// A moment on a host: on the clock of one boot, and on the wall.
public struct HostMoment: Hashable, Sendable {
    public var boot: BootID
    public var instant: Instant
    public var nanosecondsSince1970: Int64

    public init(boot: BootID, instant: Instant, nanosecondsSince1970: Int64) {
        self.boot = boot
        self.instant = instant
        self.nanosecondsSince1970 = nanosecondsSince1970
    }
}

/// The stored form: `smartplug-rules`, the version, the moment of writing, plugs, cooldowns, commands, and the FNV-1a hash of
/// all that. Numbers are big endian, texts have their length in two bytes ahead. Times are of the boot that wrote them.
extension HouseMemory {
    static let magic = Array("smartplug-rules".utf8)
    static let version: UInt8 = 1
    /// Bytes of a full memory and more; a larger file is none of ours.
    public static let sizeLimit = 2 << 20
    /// Cooldowns stored; no house has so many rules. Keeps the file below its limit.
    static let maximumCooldowns = 4096
    /// Bytes of a text; longer ones are cut. Names have at most 63, words of a cause not many more.
    static let maximumText = 255

    public func encoded(at moment: HostMoment) -> [UInt8] {
        var out = MemoryWriter(bytes: Self.magic + [Self.version])
        out.put(moment.boot.bytes)
        out.put(moment.instant)
        out.put(UInt64(bitPattern: moment.nanosecondsSince1970))
        out.put(UInt16(plugs.count))
        for plug in plugs {
            out.put(plug.id)
            out.put(plug.name)
            out.put(plug.cursor)
        }
        let cooldowns = lastFired.sorted { ($0.value, $0.key) > ($1.value, $1.key) }.prefix(Self.maximumCooldowns)
        out.put(UInt16(cooldowns.count))
        for (rule, last) in cooldowns {
            out.put(rule)
            out.put(last)
        }
        out.put(UInt16(commands.count))
        for command in commands { out.put(command) }
        return out.sealed
    }

    /// Reads what ``encoded(at:)`` wrote and moves its times to the present boot.
    ///
    /// Of another boot the wall clock says how long ago it was. Where that clock stands before the moment of writing nobody
    /// knows: then every cooldown begins anew, and no command is worth sending.
    ///
    /// - Throws: ``MemoryFault`` with the offset of what is wrong.
    public init(decoding bytes: [UInt8], at now: HostMoment) throws(MemoryFault) {
        var input = try MemoryReader(bytes)
        guard let boot = BootID(bytes: try input.take(16)) else { preconditionFailure("16 bytes were taken") }
        let then = HostMoment(
            boot: boot, instant: try input.instant(), nanosecondsSince1970: Int64(bitPattern: try input.integer()))
        let passed = then.passed(until: now)
        for _ in 0..<(try input.count(Self.maximumPlugs)) {
            let plug = Plug(id: try input.plugID(), name: try input.text(), cursor: try input.cursor())
            plugs.append(plug)
        }
        for _ in 0..<(try input.count(Self.maximumCooldowns)) {
            let rule = try input.text()
            let last = try input.instant()
            lastFired[rule] = passed.map { min(now.instant, now.instant - $0 - (then.instant - last)) } ?? now.instant
        }
        for _ in 0..<(try input.count(Self.maximumCommands)) {
            var command = try input.command()
            let latest = now.instant + HouseRules.patience
            command.until =
                passed.map { min(latest, now.instant - $0 + (command.until - then.instant)) } ?? now.instant
            commands.append(command)
        }
        try input.finish()
    }
}

extension HostMoment {
    /// Nil where it cannot be told.
    fileprivate func passed(until later: HostMoment) -> Duration? {
        let isSameBoot = boot == later.boot
        let passed =
            isSameBoot
            ? later.instant - instant
            : Instant(nanoseconds: later.nanosecondsSince1970) - Instant(nanoseconds: nanosecondsSince1970)
        return passed >= .zero ? passed : nil
    }
}

/// Why stored bytes are no memory of running rules.
public struct MemoryFault: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: Hashable, Sendable {
        case notOurs
        case version(UInt8)
        case tooShort
        case tooLong
        case checksum
        case outOfRange(String)
    }

    /// Where in the bytes.
    public var offset: Int
    public var reason: Reason

    public var description: String {
        switch reason {
        case .notOurs: "it is not a file of this program"
        case .version(let version): "it has format \(version), and this program reads format \(HouseMemory.version)"
        case .tooShort: "it ends at byte \(offset), where more was due"
        case .tooLong: "it goes on at byte \(offset), where it should end"
        case .checksum: "its checksum is wrong"
        case .outOfRange(let what): "at byte \(offset) \(what) is not one"
        }
    }
}
