import Glibc
import LinuxSystem
import NIOCore
import NIOEmbedded
import NIOSSL
import ProtocolCore

/// Opens 1,000 unpaired connections per second to a plug, each from a different loopback address. A connection sends a
/// ClientHello and then nothing.
enum Strangers {
    /// The limit of open connections. At the limit, a new connection closes the oldest one.
    private static let waiting = 100

    /// Opens `count` connections and prints the seconds that this took.
    static func run(port: Int, count: Int) throws {
        let hello = try clientHello()
        var present: [Int32] = []
        let began = BootClock.now
        for number in 0..<count {
            let due = began + .milliseconds(Int64(number))
            while case let left = due - BootClock.now, left > .zero { usleep(UInt32(left.wholeNanoseconds / 1000) + 1) }
            present.append(try connect(to: UInt16(port), number: number, saying: hello))
            if present.count > waiting { close(present.removeFirst()) }
        }
        print((BootClock.now - began).inSeconds)
        fflush(nil)
    }

    /// Connects without blocking. On loopback the connection is established at once, or fails because the backlog is
    /// full.
    private static func connect(to port: UInt16, number: Int, saying hello: [UInt8]) throws -> Int32 {
        let stream = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard stream >= 0 else { throw BenchmarkError("cannot create a socket: \(String(cString: strerror(errno)))") }
        let own = address(127 << 24 | 1 << 16 | UInt32(number % 65_000 + 1), 0)
        guard call(Glibc.bind, stream, own) == 0 else { throw BenchmarkError("cannot bind a loopback address") }
        _ = call(Glibc.connect, stream, address(127 << 24 | 1, port))
        _ = send(stream, hello, hello.count, Int32(MSG_NOSIGNAL))
        return stream
    }

    private static func address(_ host: UInt32, _ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = host.bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ stream: Int32, _ address: sockaddr_in
    ) -> Int32 {
        withUnsafeBytes(of: address) {
            function(stream, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
        }
    }

    /// Returns the first TLS message of a valid client.
    private static func clientHello() throws -> [UInt8] {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv13
        configuration.trustRoots = .certificates([])
        configuration.applicationProtocols = ["smartplug/1"]
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(
            NIOSSLClientHandler(context: NIOSSLContext(configuration: configuration), serverHostname: nil))
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        guard let hello = try channel.readOutbound(as: ByteBuffer.self) else {
            throw BenchmarkError("TLS wrote no ClientHello")
        }
        return Array(hello.readableBytesView)
    }
}
