import Glibc

/// The text of a file that the kernel makes when it is read; nil where it cannot be. Beyond `limit` bytes it is cut: a host with a
/// million sockets must not fill the memory.
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
