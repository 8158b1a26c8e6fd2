import Glibc

/// A TCP port that refuses every connection and is reserved: it is bound without listening.
final class RefusingPort {
    struct Failure: Error {
        var code: Int32
    }

    let port: UInt16
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        // The socket is bound to all addresses, including those of the loopback interface.
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let size = length
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &length) == 0 ? 0 : errno
            }
        }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
        guard code == 0 else { throw Failure(code: code) }
    }

    deinit { close(descriptor) }
}
