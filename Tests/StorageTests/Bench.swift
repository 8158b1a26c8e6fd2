import Appliance
import Foundation
import LinuxSystem
import Metering
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport

@testable import Storage

let firstBoot = BootID(bytes: [UInt8](repeating: 1, count: 16))!
let secondBoot = BootID(bytes: [UInt8](repeating: 2, count: 16))!

/// Temporary state and runtime directories.
final class Directories {
    private let folder = TestFolder()
    var root: String { folder.path }
    var state: String { root + "/state" }
    var runtime: String { root + "/runtime" }

    func write(_ text: String, to file: String) throws { try write(Array(text.utf8)[...], to: file) }

    func write(_ bytes: ArraySlice<UInt8>, to file: String) throws {
        let path = "\(root)/\(file)"
        let folder = path[..<(path.lastIndex(of: "/") ?? path.endIndex)]
        try FileManager.default.createDirectory(atPath: String(folder), withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: path))
        try setMode(0o600, of: file)
    }

    func setMode(_ mode: Int, of file: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(root)/\(file)")
    }

    /// Stores a list with one controller, the desk.
    func pairDesk() throws {
        let line = ControllersText.text(PlugServer.Access.knowing().controllers) + "\n"
        try write(line + line, to: "state/controllers")
    }

    func text(_ file: String) -> String? {
        FileManager.default.contents(atPath: "\(root)/\(file)").map { String(decoding: $0, as: UTF8.self) }
    }

    func bytes(_ file: String) -> [UInt8]? { FileManager.default.contents(atPath: "\(root)/\(file)").map(Array.init) }

    func remove(_ file: String) throws { try FileManager.default.removeItem(atPath: "\(root)/\(file)") }
}

/// Collects the notices of all storages of a test.
final class Notices {
    var all: [StorageNotice] = []
    var troubles: [String] { all.filter { $0.kind == .trouble }.map(\.description) }
    var recoveries: [String] { all.filter { $0.kind == .recovered }.map(\.description) }
}

/// A plug in virtual time without a network: the machine with its storage, as in the running plug. Discarding the value
/// is equivalent to killing the process.
struct StoredPlug {
    let storage: PlugStorage
    var machine: PlugMachine
    var now: Instant
    var relayOn = false
    /// True if a request to reserve event numbers gets no answer.
    var isFlashSlow = false
    /// The names that the plug requested to announce.
    private(set) var announced: [String] = []
    /// The active power of the load while the relay is on, in tenths of a watt.
    var load: Int32 = 600
    /// The messages that were sent to controllers.
    private var sent: [[UInt8]] = []
    /// The outcome of the last command.
    private var outcome: CommandOutcome?

    /// Starts a plug.
    ///
    /// - Throws: `FileError` if a different plug uses the directories.
    init(
        in directories: Directories, boot: BootID = firstBoot, at now: Instant = .zero,
        limits: PlugMemory.Limits = PlugMemory.Limits(), files: FileStore = FileStore(), notices: Notices = Notices()
    ) throws {
        var random = SeededRandom(seed: 1)
        storage = try PlugStorage(
            state: directories.state, runtime: directories.runtime, boot: boot, limits: limits, files: files,
            random: &random
        ) { notices.all.append($0) }
        var configuration = ApplianceConfiguration()
        configuration.capabilities.insert(.dimmer)
        let settings = storage.settings()
        let identity = PlugServer.Identity(
            id: storage.id, name: settings.name ?? "Lamp",
            capabilities: configuration.capabilities.union([.rename, .settings, .audit]), firmware: "1.0", boot: boot)
        self.now = now
        let memory = storage.restore(now: now)
        let access = storage.access(key: .plug, random: &random)
        machine = PlugMachine(
            configuration, identity: identity, access: access, memory: memory, settings: settings,
            audit: storage.audit(), seed: 2)
        feed(.started)
    }

    mutating func feed(_ event: PlugMachine.Event) {
        var pending = machine.handle(event, now: now)
        while !pending.isEmpty {
            if let answer = perform(pending.removeFirst()) { pending += machine.handle(answer, now: now) }
        }
        storage.settle(machine.memory, now: now)
    }

    private mutating func perform(_ action: PlugMachine.Action) -> PlugMachine.Event? {
        switch action {
        case .part(.setRelay(let on)): relayOn = on
        case .server(.send(_, let bytes)): sent.append(bytes)
        case .announce(let name): announced.append(name)
        case .keepSettings(let settings): return storage.keep(settings) ? .settingsKept : .settingsNotKept
        case .keepCode(let code): return storage.keep(code) ? .codeKept : .codeNotKept
        case .part(.readMeter): return .appliance(.measured(Measurement(deciwatts: relayOn ? load : 0)))
        case .part, .server, .setUpNetwork: break
        case .mirror(let records): storage.mirror(records)
        case .keep(let controllers): return storage.keep(controllers) ? nil : .keepFailed
        case .persist(let state): return storage.persist(state) ? nil : .appliance(.persistFailed)
        case .keepAudit(let audit): return storage.keep(audit) ? .auditKept : .auditNotKept
        case .factoryReset(let actor): return storage.orderReset(by: actor) ? .resetStands : .resetFailed
        case .reserve(let boundary):
            guard !isFlashSlow else { return nil }
            return storage.reserve(upTo: boundary) ? .reserved(boundary) : .reservationFailed
        }
        return nil
    }

    /// Presses or releases the button at the current time.
    mutating func edge(down: Bool) { feed(.appliance(.buttonEdge(down: down, at: now))) }

    mutating func press() {
        edge(down: true)
        run(for: .milliseconds(100))
        edge(down: false)
        run(for: .milliseconds(900))
    }

    /// Toggles the relay by a controller in a separate session.
    mutating func command(_ number: Int) { command(number, .setRelay(on: !relayOn, autoOff: nil)) }

    /// Sends a command by a controller in a separate session.
    ///
    /// - Returns: The outcome, or nil if the command is not answered yet.
    @discardableResult mutating func command(_ number: Int, _ command: PlugCommand) -> CommandOutcome? {
        let id = ConnectionID(rawValue: UInt64(number))
        var session = ControllerSession(name: "Desk")
        var bytes = [UInt8](repeating: 0, count: 16)
        (bytes[0], bytes[1]) = (UInt8(number & 255), UInt8(number >> 8))
        let asked = ControllerSession.Event.command(
            RequestID(bytes: bytes)!, command, deadline: now + .seconds(5))
        outcome = nil
        feed(.server(.opened(PlugServer.Opening(id))))
        for event in [ControllerSession.Event.connected, asked] {
            for case .send(let bytes) in session.handle(event, now: now) { received(bytes, id, &session) }
        }
        feed(.server(.closed(id)))
        return outcome
    }

    private mutating func received(_ bytes: [UInt8], _ id: ConnectionID, _ session: inout ControllerSession) {
        sent = []
        feed(.server(.received(id, bytes)))
        for answer in sent {
            for action in session.handle(.received(answer), now: now) {
                if case .send(let more) = action { received(more, id, &session) }
                if case .deliver(.commandFinished(_, let outcome)) = action { self.outcome = outcome }
            }
        }
    }

    /// Returns the messages that the plug sends when it receives these bytes on this connection.
    mutating func answers(to bytes: [UInt8], on id: ConnectionID) -> [[UInt8]] {
        sent = []
        feed(.server(.received(id, bytes)))
        return sent
    }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while let deadline = machine.nextDeadline, deadline <= end {
            now = max(now, deadline)
            feed(.deadlineReached)
        }
        now = end
    }

    var events: [PlugEvent] { machine.memory.journal.read(after: 0, limit: .max) }
    var next: SequenceNumber { machine.nextSequence }
    var state: StoredState? { machine.memory.appliance.state }
    func resume(after cursor: SequenceNumber) -> EventJournal.Resumption {
        machine.memory.journal.resume(after: cursor)
    }
}
