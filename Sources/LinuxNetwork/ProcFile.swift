import Glibc

/// Returns the text of a file in /proc; nil if it cannot be opened. The text is cut after about `limit` bytes, so that
/// a host with a million sockets cannot fill the memory.
func procFile(_ path: String, limit: Int = 4 << 20) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 16_384)
    while text.count < limit {
        let count = read(descriptor, &part, part.count)
        guard count > 0 else { break }
        text += part[..<count]
    }
    return String(decoding: text, as: UTF8.self)
}
