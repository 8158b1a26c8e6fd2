import Glibc

/// What this host calls itself, at most 63 bytes; nil where it has no name.
public func hostName() -> String? {
    var bytes = [CChar](repeating: 0, count: 64)
    guard gethostname(&bytes, bytes.count - 1) == 0, bytes[0] != 0 else { return nil }
    return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
