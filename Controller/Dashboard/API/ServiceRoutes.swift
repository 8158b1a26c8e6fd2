import CDashboardPage
import Foundation
import HTTPTypes
import Hummingbird
import LinuxSystem
import NIOCore
import Presentation

/// Routes for programs that monitor the daemon or use its API.
extension Dashboard {
    static let serviceRoutes = [
        APIRoute(.get, "/api/v1/openapi.json") { _, request, _ in
            _ = try QueryParameters(request)
            return Response(openAPI, type: "application/json")
        },
        APIRoute(.get, "/metrics") { dashboard, request, _ in
            _ = try QueryParameters(request)
            return await dashboard.metrics()
        },
        APIRoute(.get, "/health") { dashboard, request, context in
            _ = try QueryParameters(request)
            var health = ["status": "ok"]
            // Only the daemon's own user can read the directory, so answers over TCP omit its path.
            if context.isLocal, let history = dashboard.history {
                health["history"] = URL(filePath: history.directory).path
            }
            return Response(json: jsonLine(health))
        },
        APIRoute(.get, "/ready") { dashboard, request, _ in
            _ = try QueryParameters(request)
            return try await dashboard.ready()
        },
    ]

    /// The OpenAPI document, compiled into the program.
    static let openAPI = ByteBuffer(
        bytes: UnsafeBufferPointer(start: dashboard_openapi.bytes, count: dashboard_openapi.length))

    private func ready() async throws -> Response {
        guard await board.beginsSoon() else {
            throw Fault.unavailable(
                "the stored data is still being read", hint: "try again in a moment")
        }
        if let reason = await board.board.rules.storeFault {
            throw Fault.unavailable(
                "the daemon's state cannot be stored: \(reason)", hint: "see the daemon's log")
        }
        if let reason = await historyFault() {
            throw Fault.unavailable("the history cannot be written: \(reason)", hint: "see the daemon's log")
        }
        return Response(json: jsonLine(["status": "ready"]))
    }

    private func metrics() async -> Response {
        await board.begin()
        let process = Metrics.Process(
            start: Double(board.start.nanosecondsSince1970 / 1_000_000) / 1000, residentMemory: Self.residentMemory(),
            streamReaders: await board.readers.count, requests: board.requests.all)
        let text = Metrics.text(await board.board, process)
        return Response(ByteBuffer(string: text), type: Metrics.contentType)
    }

    /// Returns the resident memory in bytes. The kernel reports it in kibibytes, regardless of the page size.
    private static func residentMemory() -> Double? {
        guard let bytes = try? FileStore().read("/proc/self/status", limit: 65_536) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let words = lines.first { $0.hasPrefix("VmRSS:") }?.split { $0 == " " || $0 == "\t" } ?? []
        return words.count > 1 ? Double(words[1]).map { $0 * 1024 } : nil
    }
}
