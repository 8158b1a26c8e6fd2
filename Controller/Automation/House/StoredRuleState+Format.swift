public import PlugModel
public import ProtocolCore

/// A moment on a host: on the clock of one boot, and on the wall clock.
public struct HostMoment: Hashable, Sendable {
    /// The boot of the host.
    public var boot: BootID
    /// The time on the clock of the boot.
    public var instant: Instant
    /// The time on the wall clock, UTC.
    public var nanosecondsSince1970: Int64

    /// Creates a moment from both clocks.
    public init(boot: BootID, instant: Instant, nanosecondsSince1970: Int64) {
        self.boot = boot
        self.instant = instant
        self.nanosecondsSince1970 = nanosecondsSince1970
    }
}

/// The stored form: `smartplug-rules`, the version, the time of writing, plugs, the engine's memory, commands, `wishes`
/// (commands for absent plugs), effects, calls, scripts, bound names, and the FNV-1a hash of all bytes before it.
/// Numbers are big endian. A text follows its length in two bytes. Times are on the clock of the boot that wrote them.
/// Bound names exist since version 4, calls and scripts since version 3, and the engine's memory, `wishes` and effects
/// since version 2. Version 1 had cooldowns in place of the engine's memory.
extension StoredRuleState {
    static let magic = Array("smartplug-rules".utf8)
    static let oldestVersion: UInt8 = 1
    static let version: UInt8 = 4
    /// The maximum size of a memory file in bytes. A full memory is smaller.
    public static let sizeLimit = 16 << 20
    /// The maximum size of the engine's memory in bytes. Keeps the file below ``sizeLimit``. The least important parts
    /// of a larger memory are omitted.
    static let maximumEngine = 4 << 20
    /// The maximum number of cooldowns in a file of version 1.
    static let maximumCooldowns = 4096
    /// The maximum size of a text in bytes. Longer texts are cut. Names of plugs have at most 63 bytes.
    static let maximumText = 255
    /// The maximum size of one text of an effect in bytes.
    static let maximumWords = 8192
    /// The maximum number of stored condition results per firing. A rule file allows fewer conditions.
    static let maximumJudged = 1024

    /// Returns the stored form. Data beyond a size limit is omitted silently.
    public func encoded(at moment: HostMoment) -> [UInt8] { stored(at: moment).bytes }

    /// Returns the stored form, and a description of the omitted engine state, or nil if that state is complete.
    public func stored(at moment: HostMoment) -> (bytes: [UInt8], missing: String?) {
        var out = MemoryWriter(bytes: Self.magic + [Self.version])
        out.put(moment.boot.bytes)
        out.put(moment.instant)
        out.put(UInt64(bitPattern: moment.nanosecondsSince1970))
        out.put(UInt16(min(plugs.count, Self.maximumPlugs)))
        for plug in plugs.prefix(Self.maximumPlugs) {
            out.put(plug.id)
            out.put(plug.name)
            out.put(plug.cursor)
        }
        let (middle, missing) = storedEngine
        out.put(middle)
        for (list, limit) in [(commands, Self.maximumCommands), (wishes, Self.maximumWishes)] {
            out.put(UInt16(min(list.count, limit)))
            for command in list.prefix(limit) { out.put(command) }
        }
        out.put(UInt16(min(effects.count, Self.maximumEffects)))
        for effect in effects.prefix(Self.maximumEffects) { out.put(effect) }
        out.put(calls)
        out.put(scripts, at: moment.instant)
        let bound = names.plugs.sorted { $0.key < $1.key }.prefix(BoundNames.limit)
        out.put(UInt16(bound.count))
        for (name, plug) in bound {
            out.put(name)
            out.put(plug)
        }
        return (out.sealed, missing)
    }

    /// The engine's memory. If it is too large, its least important parts are omitted.
    private var storedEngine: (bytes: [UInt8], missing: String?) {
        var part = engine
        var missing: [String] = []
        let sacrifices: [(words: String, make: (inout EngineMemory) -> Void)] = [
            ("the times of earlier firings", { $0.fired = $0.fired.mapValues { Array($0.suffix(1)) } }),
            ("the times of the last firings", { $0.fired = [:] }),
            ("the energy counters", { $0.energies = [] }),
            ("dwells", { $0.dwells = [] }),
            (
                "everything except which rules are turned off",
                { engine in
                    let disabled = engine.disabled
                    engine = EngineMemory()
                    engine.disabled = disabled
                }
            ),
        ]
        for sacrifice in sacrifices {
            let bytes = Self.bytes(of: part)
            guard bytes.count > Self.maximumEngine else { return (bytes, Self.words(for: missing)) }
            sacrifice.make(&part)
            missing.append(sacrifice.words)
        }
        return (Self.bytes(of: part), Self.words(for: missing))
    }

    private static func bytes(of engine: EngineMemory) -> [UInt8] {
        var out = MemoryWriter(bytes: [])
        out.put(engine)
        return out.bytes
    }

    private static func words(for missing: [String]) -> String? {
        guard !missing.isEmpty else { return nil }
        let limit = "the state of the rules is limited to \(maximumEngine >> 20) MiB, so it is stored"
        return "\(limit) without \(missing.joined(separator: ", "))"
    }

    /// Reads the result of ``encoded(at:)`` and converts its times to the present boot.
    ///
    /// If the boot changed, the wall clock gives the elapsed time. If that clock is earlier than the time of writing,
    /// the elapsed time is unknown. Then waits, timers, `wishes`, effects and calls continue as if no time had passed,
    /// and so does a command that turns a plug off after a wait. Every cooldown restarts, and every other command
    /// expires.
    ///
    /// - Throws: ``StateDecodingError`` with the offset of the fault.
    public init(decoding bytes: [UInt8], at now: HostMoment) throws(StateDecodingError) {
        var input = try MemoryReader(bytes)
        guard let boot = BootID(bytes: try input.take(16)) else { preconditionFailure("16 bytes were taken") }
        let then = HostMoment(
            boot: boot, instant: try input.instant(), nanosecondsSince1970: Int64(bitPattern: try input.integer()))
        let passed = then.passed(until: now)
        /// Converts an instant of the writing boot to the present clock.
        func moved(_ instant: Instant) -> Instant { now.instant - (passed ?? .zero) + (instant - then.instant) }
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
        if passed == nil {
            engine.fired = engine.fired.mapValues { $0.map { _ in now.instant } }
            engine.judgedUntil = engine.judgedUntil.map { _ in now.instant }
        }
        for _ in 0..<(try input.count(Self.maximumCommands)) {
            var command = try input.command()
            command.until = min(now.instant + DurableRuleEngine.waitedPatience, moved(command.until))
            if passed == nil, command.until - now.instant <= DurableRuleEngine.patience { command.until = now.instant }
            commands.append(command)
        }
        if input.version > 1 { try readRest(&input, moved: moved, now: now.instant) }
        if input.version > 2 { try readScripts(&input, moved: moved, now: now.instant) }
        if input.version > 3 {
            var bound: [String: PlugID] = [:]
            for _ in 0..<(try input.count(BoundNames.limit)) { bound[try input.text()] = try input.plugID() }
            names = BoundNames(bound)
        }
        try input.finish()
    }

    private mutating func readRest(
        _ input: inout MemoryReader, moved: (Instant) -> Instant, now: Instant
    ) throws(StateDecodingError) {
        for _ in 0..<(try input.count(Self.maximumWishes)) {
            var wish = try input.command()
            wish.until = min(now + DurableRuleEngine.longestRemembering, moved(wish.until))
            wishes.append(wish)
        }
        for _ in 0..<(try input.count(Self.maximumEffects)) {
            var effect = try input.effect()
            effect.until = min(now + DurableRuleEngine.patience(for: effect.request.effect), moved(effect.until))
            effect.request.firing.move(moved, now: now)
            effects.append(effect)
        }
    }
}

extension Firing {
    /// Converts the times to the present clock. A time in the future becomes now.
    mutating func move(_ moved: (Instant) -> Instant, now: Instant) {
        time = min(now, moved(time))
        cause.since = cause.since.map { min(now, moved($0)) }
    }
}

extension HostMoment {
    /// Returns the time between two moments; nil if unknown.
    fileprivate func passed(until later: HostMoment) -> Duration? {
        let isSameBoot = boot == later.boot
        let passed =
            isSameBoot
            ? later.instant - instant
            : Instant(nanoseconds: later.nanosecondsSince1970) - Instant(nanoseconds: nanosecondsSince1970)
        return passed >= .zero ? passed : nil
    }
}

/// The reason why bytes are not a valid memory.
public struct StateDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of a fault.
    public enum Reason: Hashable, Sendable {
        /// The bytes do not begin with `smartplug-rules`.
        case notOurs
        /// This program does not read the version.
        case version(UInt8)
        /// The bytes end before a value is complete.
        case tooShort
        /// Bytes follow the last value.
        case tooLong
        /// The hash at the end does not match.
        case checksum
        /// A value is out of range or has an invalid form. The text names the expected kind.
        case outOfRange(String)
    }

    /// The byte offset of the fault.
    public var offset: Int
    /// The kind of the fault.
    public var reason: Reason

    /// The fault in words, with the byte offset if it matters.
    public var description: String {
        switch reason {
        case .notOurs: "it is not a file of this program"
        case .version(let version):
            "it has format \(version), but this program reads only up to \(StoredRuleState.version)"
        case .tooShort: "it ends too early, at byte \(offset)"
        case .tooLong: "it should end at byte \(offset)"
        case .checksum: "its checksum is wrong"
        case .outOfRange(let what): "\(what) is expected at byte \(offset)"
        }
    }
}
