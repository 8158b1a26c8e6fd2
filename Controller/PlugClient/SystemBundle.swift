import Crypto
public import PlugModel

/// A signed bundle with a new system for a plug, made by `Scripts/image`.
public struct SystemBundle: Sendable {
    /// The id, by which the plug continues a bundle that it received in part.
    public let id: BundleID
    private let bytes: [UInt8]
    /// The number of bytes.
    public var size: Int { bytes.count }

    /// Creates a bundle from the content of its file.
    ///
    /// - Throws: ``SystemBundleError``.
    public init(_ bytes: [UInt8]) throws(SystemBundleError) {
        // RAUC's bundles begin with a SquashFS image.
        guard bytes.starts(with: Array("hsqs".utf8)) else { throw .otherFile }
        guard bytes.count <= PlugWire.largestBundle else { throw .tooLarge }
        self.bytes = bytes
        id = BundleID(bytes: SHA256.hash(data: bytes).prefix(16))!
    }

    /// Returns the next part at this offset, or nil at the end.
    public func part(at offset: UInt64) -> [UInt8]? {
        guard offset < UInt64(bytes.count) else { return nil }
        let start = Int(offset)
        return Array(bytes[start..<min(start + PlugWire.largestBundlePart, bytes.count)])
    }
}

/// The reason why a file is not a bundle.
public enum SystemBundleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file does not begin as a bundle.
    case otherFile
    /// The file is larger than ``PlugWire/largestBundle``.
    case tooLarge

    /// A sentence for a person.
    public var description: String {
        switch self {
        case .otherFile: "this is not a bundle for plugs; Scripts/image makes bundles, whose names end in .raucb"
        case .tooLarge: "a bundle has at most \(PlugWire.largestBundle) bytes"
        }
    }
}
