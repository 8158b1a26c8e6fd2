import Foundation

/// A broker of our own that stores nothing and limits nothing.
struct MosquittoBroker {
    let port: Int
    private let process: ChildProcess
    private let configuration: URL

    init() throws {
        port = Int.random(in: 20_000..<30_000)
        configuration = FileManager.default.temporaryDirectory.appending(path: "mosquitto-\(getpid()).conf")
        let lines = [
            "listener \(port) 127.0.0.1", "allow_anonymous true", "set_tcp_nodelay true", "max_inflight_messages 0",
            "max_queued_messages 0", "log_type error",
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: configuration)
        process = try ChildProcess("/usr/sbin/mosquitto", ["-c", configuration.path])
    }

    func stop() {
        process.terminate()
        try? FileManager.default.removeItem(at: configuration)
    }
}
