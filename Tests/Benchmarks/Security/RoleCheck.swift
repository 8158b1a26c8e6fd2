import LinuxSystem
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport

/// Measures the share of the access check in a command, in the plug's machine only: a command arrives as bytes, is
/// checked, carried out at once and answered. The checks are also measured separately and subtracted for the reference.
func roleCheckFigure(_ setting: Setting) -> Figure {
    let count = setting.times(20_000, few: 2000)
    var whole: [Double] = []
    var checks: [Double] = []
    for _ in 0..<max(5, setting.rounds) {
        var server = CommandedServer()
        let frames = server.frames(count)
        let began = BootClock.now
        for frame in frames { server.obey(frame) }
        let obeyed = BootClock.now
        var allowed = 0
        for number in 0..<count {
            let command = PlugCommand.setRelay(on: number.isMultiple(of: 2), autoOff: nil)
            let role = number < count ? Role.owner : .viewer
            // The server checks the message and then the kind of command.
            for _ in 0..<2 where role.may(AskedRequest(command)) { allowed += 1 }
        }
        let checked = BootClock.now
        precondition(allowed == 2 * count && server.answered == count, "a command was refused or not answered")
        whole.append(Double((obeyed - began).wholeNanoseconds) / Double(count))
        checks.append(Double((checked - obeyed).wholeNanoseconds) / Double(count))
    }
    let bare = whole.median - checks.median
    return Figure(
        "command in the machine, role checked", whole.median / 1000, "µs",
        against: Figure.Reference(name: "the same without the check", value: bare / 1000), .ratioAtMost(1.02))
}

/// A plug's server with one controller, connected without delay.
private struct CommandedServer {
    private let connection = ConnectionID(rawValue: 1)
    private var server = PlugServer(
        identity: PlugServer.Identity(
            id: PlugID(rawValue: "0123456789ab")!, name: "Lamp", capabilities: [.relay], firmware: "1.0",
            boot: BootID(bytes: [UInt8](repeating: 1, count: 16))!),
        access: .knowing(), journal: EventJournal(), state: PlugState(relayOn: false))
    private var session = ControllerSession(name: "Controller")
    private var now = Instant(nanoseconds: 1_000_000_000)
    private(set) var answered = 0

    init() {
        _ = server.handle(.shell(.opened(PlugServer.Opening(connection))), now: now)
        for action in session.handle(.connected, now: now) {
            guard case .send(let bytes) = action else { continue }
            for case .shell(.send(_, let answer)) in server.handle(.shell(.received(connection, bytes)), now: now) {
                _ = session.handle(.received(answer), now: now)
            }
        }
    }

    /// Returns `count` frames with one command each. The request ids are unique.
    mutating func frames(_ count: Int) -> [[UInt8]] {
        (0..<count).map { number in
            let request = RequestID(bytes: (0..<16).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 4))) })!
            // Each command is encoded by a new copy of the session, which knows no unanswered command.
            var session = session
            let command = PlugCommand.setRelay(on: number.isMultiple(of: 2), autoOff: nil)
            let actions = session.handle(.command(request, command, deadline: now + .seconds(3600)), now: now)
            for case .send(let bytes) in actions { return bytes }
            preconditionFailure("the session did not send the command at once")
        }
    }

    mutating func obey(_ frame: [UInt8]) {
        now = now + .milliseconds(1)
        for case .perform(let id, _, _, _) in server.handle(.shell(.received(connection, frame)), now: now) {
            let done = CommandOutcome.done(PlugState(relayOn: true), event: nil)
            for case .shell(.send) in server.handle(.commandOutcome(id, done), now: now) { answered += 1 }
        }
    }
}
