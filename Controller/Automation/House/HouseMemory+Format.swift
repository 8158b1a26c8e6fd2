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

/// The stored form: `smartplug-rules`, the version, the moment of writing, plugs, what the engine is in the midst of, commands, wishes,
/// effects, and the FNV-1a hash of all that. Numbers are big endian, texts have their length in two bytes ahead. Times are of the boot
/// that wrote them. Version 1 had cooldowns in place of the engine's memory, and neither wishes nor effects.
extension HouseMemory {
    static let magic = Array("smartplug-rules".utf8)
    static let oldestVersion: UInt8 = 1
    static let version: UInt8 = 2
    /// Bytes of a full memory and more; a larger file is none of ours.
    public static let sizeLimit = 8 << 20
    /// Bytes of the engine's part, which keeps the whole below its limit; the engine has bounds of its own, which are far below.
    static let maximumEngine = 4 << 20
    /// Cooldowns that a file of version 1 may have.
    static let maximumCooldowns = 4096
    /// Bytes of a text; longer ones are cut. Names have at most 63, words of a cause not many more.
    static let maximumText = 255
    /// Bytes of one text of an effect.
    static let maximumWords = 8192
    /// Conditions of a firing whose judgement is kept: more than a rule file lets through.
    static let maximumJudged = 1024

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
        var middle = MemoryWriter(bytes: [])
        middle.put(engine)
        if middle.bytes.count > Self.maximumEngine {
            var least = EngineMemory()
            least.disabled = engine.disabled
            middle = MemoryWriter(bytes: [])
            middle.put(least)
        }
        out.put(middle.bytes)
        for list in [commands, wishes] {
            out.put(UInt16(list.count))
            for command in list { out.put(command) }
        }
        out.put(UInt16(effects.count))
        for effect in effects { out.put(effect) }
        return out.sealed
    }

    /// Reads what ``encoded(at:)`` wrote and moves its times to the present boot.
    ///
    /// Of another boot the wall clock says how long ago it was. Where that clock stands before the moment of writing nobody
    /// knows: then every cooldown and every wait begins anew, and no command is worth sending.
    ///
    /// - Throws: ``MemoryFault`` with the offset of what is wrong.
    public init(decoding bytes: [UInt8], at now: HostMoment) throws(MemoryFault) {
        var input = try MemoryReader(bytes)
        guard let boot = BootID(bytes: try input.take(16)) else { preconditionFailure("16 bytes were taken") }
        let then = HostMoment(
            boot: boot, instant: try input.instant(), nanosecondsSince1970: Int64(bitPattern: try input.integer()))
        let passed = then.passed(until: now)
        /// An instant of the writing boot on the clock of the present one.
        func moved(_ instant: Instant) -> Instant {
            passed.map { now.instant - $0 + (instant - then.instant) } ?? now.instant
        }
        for _ in 0..<(try input.count(Self.maximumPlugs)) {
            let plug = Plug(id: try input.plugID(), name: try input.text(), cursor: try input.cursor())
            plugs.append(plug)
        }
        if input.version == 1 {
            for _ in 0..<(try input.count(Self.maximumCooldowns)) {
                let rule = try input.text()
                engine.fired[rule] = [min(now.instant, moved(try input.instant()))]
            }
        } else {
            engine = try input.engineMemory(moved: moved)
        }
        for _ in 0..<(try input.count(Self.maximumCommands)) {
            var command = try input.command()
            command.until = min(now.instant + HouseRules.waitedPatience, moved(command.until))
            commands.append(command)
        }
        if input.version > 1 { try readRest(&input, moved: moved, now: now.instant) }
        try input.finish()
    }

    private mutating func readRest(
        _ input: inout MemoryReader, moved: (Instant) -> Instant, now: Instant
    ) throws(MemoryFault) {
        for _ in 0..<(try input.count(Self.maximumWishes)) {
            var wish = try input.command()
            wish.until = min(now + HouseRules.longestRemembering, moved(wish.until))
            wishes.append(wish)
        }
        for _ in 0..<(try input.count(Self.maximumEffects)) {
            var effect = try input.effect()
            effect.until = min(now + HouseRules.patience(for: effect.request.effect), moved(effect.until))
            effect.request.firing.time = min(now, moved(effect.request.firing.time))
            effect.request.firing.cause.since = effect.request.firing.cause.since.map { min(now, moved($0)) }
            effects.append(effect)
        }
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
        case .version(let version): "it has format \(version), and this program reads up to \(HouseMemory.version)"
        case .tooShort: "it ends at byte \(offset), where more was due"
        case .tooLong: "it goes on at byte \(offset), where it should end"
        case .checksum: "its checksum is wrong"
        case .outOfRange(let what): "at byte \(offset) \(what) is not one"
        }
    }
}
