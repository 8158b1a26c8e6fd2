import Automation
import FleetService
import Foundation
import HostSleep
import Logging
import NIOCore
import NIOPosix
import PlugClient
import PlugModel
import PowerHistory
import Presentation
import RuleEditing
import RuleModel
import SleepClient
import SystemUpdates
import TestSupport

@testable import Daemon
@testable import Dashboard

/// A dashboard of an empty house that listens on a free port and on a local socket.
struct DashboardAtWork {
    let port: Int
    let socket: String
    let directory: TestFolder
    let board: LiveBoard

    static func run(_ body: (DashboardAtWork) async throws -> Void) async throws { try await run({ _ in }, body) }

    static func run(
        _ change: (inout DashboardSettings) throws -> Void = { _ in }, rules: [Rule] = [],
        fleet: (any FleetSource)? = nil, history: PowerHistory? = nil, house: (any HouseCommands)? = nil,
        editor: RuleEditor? = nil,
        _ body: (DashboardAtWork) async throws -> Void
    ) async throws {
        let directory = TestFolder()
        var settings = DashboardSettings()
        settings.place = .init(host: "127.0.0.1", port: 0)
        settings.socket = directory.path + "/run/daemon.socket"
        settings.directory = directory.path + "/dashboard"
        settings.password = PasswordFile(directory.path + "/password")
        settings.tariff = TariffStore(path: directory.path + "/tariff.toml")
        settings.budget = BudgetStore(path: directory.path + "/budget.toml")
        settings.limits.farewell = .milliseconds(50)
        try change(&settings)
        let board = LiveBoard(
            rules: rules, rooms: RoomStore(directory: directory.path),
            order: OrderStore(directory: directory.path))
        let dashboard = Dashboard(
            house: house ?? NoHouse(), board: board, history: history,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), settings: settings, fleet: fleet,
            ruleEditor: editor)
        let (addresses, continuation) = AsyncStream.makeStream(of: String.self)
        let running = Task {
            await dashboard.run { notice in
                switch notice {
                case .serving(let address, _, _): continuation.yield(address)
                case .complaint(let text): continuation.yield("complaint: \(text)")
                }
            }
        }
        var iterator = addresses.makeAsyncIterator()
        let address = await iterator.next() ?? ""
        let port = address.split(separator: ":").last.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        let result = await Result {
            try await body(
                DashboardAtWork(port: port, socket: settings.socket ?? "", directory: directory, board: board))
        }
        running.cancel()
        await running.value
        try result.get()
    }

    /// Sends bytes, and returns everything that is received until the server closes.
    func say(_ text: String) async throws -> String { try await say(Array(text.utf8)) }

    func say(_ bytes: [UInt8]) async throws -> String {
        let channel = try await connect { try await $0.connect(host: "127.0.0.1", port: port).get() }
        return try await channel.say(bytes)
    }

    func sayLocally(_ text: String) async throws -> String {
        let text = Array(text.utf8)
        // Both listeners start at the same time. The local socket may be ready after the network port, for which
        // `run` waits.
        for _ in 0..<500 {
            if let channel = try? await connect({ try await $0.connect(unixDomainSocketPath: socket).get() }) {
                let answer = try await channel.say(text)
                // The socket exists before the server accepts connections.
                if !answer.isEmpty { return answer }
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        return try await connect { try await $0.connect(unixDomainSocketPath: socket).get() }.say(text)
    }

    /// Sends one request, after which the server closes the connection.
    func ask(_ method: String, _ path: String, _ fields: String..., body: String? = nil) async throws -> String {
        try await say(Self.request(method, path, fields, body))
    }

    static func request(_ method: String, _ path: String, _ fields: [String], _ body: String? = nil) -> String {
        var lines = ["\(method) \(path) HTTP/1.1", "Connection: close"] + fields
        if !fields.contains(where: { $0.lowercased().hasPrefix("host:") }) { lines.append("Host: localhost") }
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
    }

    private func connect(
        _ connect: (ClientBootstrap) async throws -> any Channel
    ) async throws -> WireChannel {
        let heard = Heard()
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(HearingHandler(heard))
                }
            }
        return WireChannel(channel: try await connect(bootstrap), heard: heard)
    }
}

struct WireChannel {
    let channel: any Channel
    let heard: Heard

    func say(_ bytes: [UInt8]) async throws -> String {
        // The server may have closed before everything was sent.
        try? await channel.writeAndFlush(ByteBuffer(bytes: bytes))
        try? await channel.closeFuture.get()
        return heard.text
    }
}

final class Heard: @unchecked Sendable {
    private let lock = NSLock()
    private var bytes: [UInt8] = []

    var text: String { lock.withLock { String(decoding: bytes, as: UTF8.self) } }
    func add(_ buffer: ByteBuffer) { lock.withLock { bytes += Array(buffer.readableBytesView) } }
}

private final class HearingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let heard: Heard

    init(_ heard: Heard) { self.heard = heard }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { heard.add(unwrapInboundIn(data)) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// A house without plugs, with the given machines.
struct NoHouse: HouseCommands {
    var machines = KnownMachines()
    var updates = HouseUpdates(nil) { _ in }
    var outcome: @Sendable (KnownMachine) async throws -> WakeOutcome = { _ in .didNotWake }

    func send(
        _ command: PlugCommand, to plug: String, id: RequestID
    ) async throws -> (state: PlugState, event: SequenceNumber?) {
        throw Refusal(.deadlinePassed, "the plug is away")
    }

    func pair(_ plug: String, code: SetupCode) async throws -> PairedPlugs.Entry { throw CancellationError() }
    func settings(of plug: String) async throws -> RemoteSettings? { nil }
    func invite(to plug: String, code: SetupCode, as grant: Grant) async throws -> Duration? { nil }
    func unpair(_ plug: String) async throws {}
    func forget(_ plug: PlugID) async throws {}
    func plugs(of rule: String) async -> [NamedPlug] { [] }
    func enable(_ rule: String, _ isOn: Bool) async throws {
        if rule == "Unlucky" { throw RuleRequestError.notStored(rule: rule, isOn: isOn, reason: "no room") }
    }

    func fire(_ rule: String) async throws -> RequestID {
        if rule == "Unlucky" { throw RuleRequestError.heldBack(rule: rule, .disabled) }
        return RequestID(bytes: [UInt8](repeating: 9, count: 16))!
    }

    func notify(_ request: EffectRequest) async -> Bool { true }

    func wake(_ machine: KnownMachine) async throws -> WakeOutcome { try await outcome(machine) }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
