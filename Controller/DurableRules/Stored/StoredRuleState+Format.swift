import Automation
public import PlugModel
public import ProtocolCore
import SwiftProtobuf

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

/// The stored form: `smartplug-rules`, the version, the message ``SavedState``, and the FNV-1a hash of all bytes before
/// it. Files of versions 1 to 4 are read by ``EarlierFormats``.
extension StoredRuleState {
    static let magic = Array("smartplug-rules".utf8)
    static let version: UInt8 = 5
    static let hashLength = 16
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
        var saved = SavedState(self, at: moment)
        var bytes = Self.bytes(of: saved)
        var missing: [String] = []
        // Usually the whole memory is smaller than the limit of the engine's part, which is then not measured.
        if bytes.count > Self.maximumEngine {
            missing = saved.engine.shrink { Self.bytes(of: $0).count <= Self.maximumEngine }
            bytes = Self.bytes(of: saved)
        }
        return (Self.sealed(Self.magic + [Self.version] + bytes), Self.words(for: missing))
    }

    /// Returns the bytes followed by their hash.
    package static func sealed(_ bytes: [UInt8]) -> [UInt8] { bytes + hash(bytes[...]) }

    private static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var hash = FNV1a128()
        hash.add(bytes)
        return hash.bytes
    }

    static func bytes(of message: some Message) -> [UInt8] {
        guard let bytes: [UInt8] = try? message.serializedBytes() else {
            preconditionFailure("a message without required fields was not encoded")
        }
        return bytes
    }

    private static func words(for missing: [String]) -> String? {
        guard !missing.isEmpty else { return nil }
        let limit = "the state of the rules is limited to \(maximumEngine >> 20) MiB, so it is stored"
        return "\(limit) without \(missing.joined(separator: ", "))"
    }

    /// Reads the result of ``encoded(at:)`` or a file of an earlier version, and converts its times to the present
    /// boot.
    ///
    /// If the boot changed, the wall clock gives the elapsed time. If that clock is earlier than the time of writing,
    /// the elapsed time is unknown. Then waits, timers, `deferred`, effects and calls continue as if no time had passed,
    /// and so does a command that turns a plug off after a wait. Every cooldown restarts, and every other command
    /// expires.
    ///
    /// - Throws: ``StateDecodingError``.
    public init(decoding bytes: [UInt8], at now: HostMoment) throws(StateDecodingError) {
        do {
            self = try SavedStateReader(Self.saved(bytes), at: now).state()
        } catch {
            throw error as? StateDecodingError ?? .malformed
        }
    }

    /// Verifies the header, the version and the hash, and decodes the message. The hash is verified first, so an
    /// invalid value was already invalid when it was written.
    private static func saved(_ bytes: [UInt8]) throws -> SavedState {
        guard bytes.starts(with: magic) else { throw StateDecodingError.notOurs }
        guard bytes.count > magic.count + hashLength else { throw StateDecodingError.tooShort(at: bytes.count) }
        let version = bytes[magic.count]
        guard (1...Self.version).contains(version) else { throw StateDecodingError.version(version) }
        let content = bytes.dropLast(hashLength)
        guard hash(content) == Array(bytes.suffix(hashLength)) else { throw StateDecodingError.checksum }
        let body = content.dropFirst(magic.count + 1)
        if version < Self.version { return try EarlierFormats.read(body, version: version) }
        var options = BinaryDecodingOptions()
        options.discardUnknownFields = true
        return try SavedState(serializedBytes: Array(body), options: options)
    }
}

extension EngineMemory {
    /// The maximum number of stored entries per list; further entries are not stored. Keeps the file small enough to be
    /// written often.
    static let maximumEntries = 2048
    /// The maximum number of stored firing times per rule. The last ones are stored.
    static let maximumInstants = 1024
}

/// The reason why bytes are not a valid memory.
public enum StateDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes do not begin with `smartplug-rules`.
    case notOurs
    /// This program does not read the version.
    case version(UInt8)
    /// The bytes end before a value is complete.
    case tooShort(at: Int)
    /// Bytes follow the last value.
    case tooLong(at: Int)
    /// The hash at the end does not match.
    case checksum
    /// The content between version and hash is not the expected message.
    case malformed
    /// A value is out of range or has an invalid form. The text names the expected kind.
    case outOfRange(String)

    /// The fault in words, with the byte offset if it is known.
    public var description: String {
        switch self {
        case .notOurs: "it is not a file of this program"
        case .version(let version):
            "it has format \(version), but this program reads only up to \(StoredRuleState.version)"
        case .tooShort(let offset): "it ends too early, at byte \(offset)"
        case .tooLong(let offset): "it should end at byte \(offset)"
        case .checksum: "its checksum is wrong"
        case .malformed: "its content has an invalid form"
        case .outOfRange(let what): "\(what) is expected"
        }
    }
}
