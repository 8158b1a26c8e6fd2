import Foundation
import HomeKit
import LinuxSystem
import ProtocolCore
import TestSupport

/// A controller's connection to an accessory on loopback, with a blocking socket, so that the controller adds little
/// time.
final class HomeKitCaller {
    private let socket: Int32
    private var connection = SimulatedConnection(HomeKitSessionID(rawValue: 0))
    /// The nanoseconds for which this side has waited for the connection and for the first bytes of answers, without
    /// its own cryptography.
    private(set) var waited = 0.0

    init(port: Int) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let began = BootClock.now
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw BenchmarkError("no accessory at port \(port)") }
        waited = Double((BootClock.now - began).wholeNanoseconds)
        var one: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(socket) }

    /// Sends a request and waits for its answer.
    func ask(_ method: String, _ target: String, _ body: [UInt8] = []) throws -> SimulatedConnection.Answer {
        let bytes = try connection.request(method, target, body)
        let began = BootClock.now
        guard write(socket, bytes, bytes.count) == bytes.count else { throw BenchmarkError("the accessory is gone") }
        var isFirst = true
        while true {
            if let answer = connection.takeAnswer() { return answer }
            let heard = try nextBytes()
            if isFirst { waited += Double((BootClock.now - began).wholeNanoseconds) }
            isFirst = false
            try connection.receive(heard)
        }
    }

    /// Waits for the next event and returns it with its time of arrival.
    func event() throws -> (text: String, at: Instant) {
        while true {
            if let text = connection.takeEvents().first { return (text, BootClock.now) }
            try connection.receive(nextBytes())
        }
    }

    private func nextBytes() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = read(socket, &buffer, buffer.count)
        guard count > 0 else { throw BenchmarkError("the accessory closed the connection") }
        return Array(buffer[..<count])
    }

    private func exchange(_ target: String, _ body: [UInt8]) throws -> TLV8 {
        try SimulatedAccessory.items(try ask("POST", target, body))
    }

    /// Pairs a new controller with the accessory.
    static func pair(port: Int, code: String) throws -> SimulatedController {
        var controller = SimulatedController("5C2E81A0-6F4B-4C0B-9D0C-0B8E3C9B1D5E")
        let caller = try HomeKitCaller(port: port)
        var attempt = try SetupAttempt(controller, code: code)
        let second = try caller.exchange("/pair-setup", SetupAttempt.first())
        let fourth = try caller.exchange("/pair-setup", try attempt.second(second))
        try attempt.finish(try caller.exchange("/pair-setup", try attempt.third(fourth)))
        guard let (key, id) = attempt.accessory else { throw BenchmarkError("the accessory did not send its identity") }
        controller.learn(key, id)
        return controller
    }

    /// Opens an encrypted session (pair-verify).
    func verify(_ controller: SimulatedController) throws {
        var attempt = VerifyAttempt(controller)
        let second = try exchange("/pair-verify", try attempt.first())
        _ = try exchange("/pair-verify", try attempt.second(second))
        connection.encrypt(attempt.shared)
    }

    /// Writes to a characteristic of accessory 1.
    /// - Throws: ``BenchmarkError`` if the accessory's status is not 204.
    /// - Returns: the nanoseconds until the first bytes of the answer.
    @discardableResult
    func put(_ instance: Int, _ entry: String) throws -> Double {
        let before = waited
        let body = #"{"characteristics":[{"aid":1,"iid":\#(instance),\#(entry)}]}"#
        let answer = try ask("PUT", "/characteristics", Array(body.utf8))
        guard answer.status == 204 else {
            throw BenchmarkError("the accessory answers \(answer.status): \(answer.text)")
        }
        return waited - before
    }
}
