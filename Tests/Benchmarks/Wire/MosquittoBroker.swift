import Foundation

/// A temporary mosquitto on loopback, without persistence and without queue limits.
struct MosquittoBroker {
    let port: Int
    private let process: ChildProcess
    private let configuration: URL

    init() throws {
        port = Int.random(in: 20_000..<30_000)
        configuration = FileManager.default.temporaryDirectory.appending(path: "mosquitto-\(getpid()).conf")
        let lines = [
            "listener \(port) 127.0.0.1", "allow_anonymous true", "set_tcp_nodelay true", "max_inflight_messages 0",
            "max_queued_messages 0", "log_type error", "sys_interval 1",
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: configuration)
        process = try ChildProcess("/usr/sbin/mosquitto", ["-c", configuration.path])
    }

    /// Returns the retained messages of a filter. Waits for `count` messages, two seconds at most.
    func retained(below filter: String, _ count: Int) throws -> [String] {
        try heard(["-t", filter, "-C", "\(count)", "-W", "2"])
    }

    /// Returns the number of packets that the broker has received, as it was up to a second ago. Nearly all of these
    /// packets are published messages.
    func published() throws -> Int {
        guard
            let count = try heard(["-t", "$SYS/broker/messages/received", "-C", "1"]).first.flatMap({ Int($0) })
        else { throw BenchmarkError("mosquitto does not report its received messages") }
        return count
    }

    private func heard(_ words: [String]) throws -> [String] {
        let listener = Process()
        let output = Pipe()
        listener.executableURL = URL(filePath: "/usr/bin/mosquitto_sub")
        listener.arguments = ["-h", "127.0.0.1", "-p", "\(port)"] + words
        listener.standardOutput = output
        try listener.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        listener.waitUntilExit()
        return text.split(separator: "\n").map(String.init)
    }

    func stop() {
        process.terminate()
        try? FileManager.default.removeItem(at: configuration)
    }
}
