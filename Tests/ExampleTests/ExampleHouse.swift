import Automation
import Checkout
import Foundation
import Metering
import PlugModel
import ProtocolCore
import RuleFiles
import RuleModel

/// A house of simulated plugs in virtual time. It runs the rules of an example file and records their effects as text.
struct ExampleHouse {
    private var engine: RuleEngine
    private(set) var now = Instant.zero
    /// Lines in order of time: the second, then a fired rule, a sent command, a notification in quotation marks, or a
    /// plug with the reason why a command to it was not sent.
    private(set) var log: [String] = []
    private(set) var on: [String: Bool] = [:]
    private var sequence: SequenceNumber = 0
    private let boot = BootID(bytes: Array(repeating: 7, count: 16))!

    /// - Parameter file: the name of a file in `Controller/Examples`. The wall clock starts at Monday, 1970-01-05,
    ///   00:00.
    init(_ file: String) throws {
        let text = try String(contentsOf: Checkout.place("Controller/Examples/\(file)"), encoding: .utf8)
        engine = RuleEngine(rules: try RuleFile(name: file, text: text).rules)
        perform(.clockChanged(LocalTime(pieces: [LocalTime.Piece(from: .zero, offset: 4 * 86_400)]), .unknown))
    }

    mutating func add(_ plug: String, on isOn: Bool, dimmer: DimLevel? = nil) {
        on[plug] = isOn
        let reading = Reading(time: now, deciwatts: 0, milliwattHours: 0)
        let state = PlugState(relayOn: isOn, level: dimmer, reading: reading)
        perform(.plugAppeared(plug: plug, state: state, boot: boot))
    }

    /// Advances the clock to this time in seconds, and handles all deadlines until then.
    mutating func run(to seconds: Double) {
        let end = Instant.zero + .milliseconds(Int64(seconds * 1000))
        while let deadline = engine.nextDeadline, deadline <= end {
            now = max(now, deadline)
            perform(.deadlineReached)
        }
        now = max(now, end)
    }

    mutating func reads(_ plug: String, _ watts: Double, at seconds: Double) {
        run(to: seconds)
        perform(.reading(plug: plug, activePower: watts, time: now, isSnapshot: false))
    }

    /// Sends one reading per second.
    mutating func draws(_ plug: String, _ watts: Double, from start: Int, to end: Int) {
        for second in start..<end { reads(plug, watts, at: Double(second)) }
    }

    mutating func presses(_ plug: String, _ press: ButtonPress, at seconds: Double) {
        run(to: seconds)
        happens(plug, .buttonPressed(press))
    }

    /// Switches the plug by its button.
    mutating func switches(_ plug: String, on isOn: Bool, at seconds: Double) {
        run(to: seconds)
        change(plug, isOn, .button)
    }

    // MARK: - Effects of the rules

    private mutating func perform(_ event: RuleEngineEvent) {
        for action in engine.handle(event, now: now) {
            let second = "\(now.nanoseconds / 1_000_000_000)"
            switch action {
            case .fired(let firing): log.append("\(second) \(firing.rule)")
            case .send(let request, _):
                log.append("\(second) \(request.plug) \(words(request.command))")
                obey(request)
            case .effect(let request):
                if case .notify(_, let text) = request.effect { log.append("\(second) \"\(text)\"") }
            case .notSent(_, let plug, let reason): log.append("\(second) \(plug): \(reason)")
            case .heldBack, .nearMiss, .remember, .step, .call: break
            }
        }
    }

    private mutating func obey(_ request: CommandRequest) {
        let wanted: Bool
        switch request.command {
        case .setRelay(let isOn, _): wanted = isOn
        case .setLevel(let level, _): wanted = level.permille > 0
        case .identify, .resetProtection, .rename, .configure: return
        }
        let before = sequence
        change(request.plug, wanted, .controller(name: "the rules", request: request.id))
        let outcome = CommandOutcome.done(PlugState(relayOn: wanted), event: sequence == before ? nil : sequence)
        perform(.commandFinished(plug: request.plug, id: request.id, outcome: outcome))
    }

    private mutating func change(_ plug: String, _ isOn: Bool, _ cause: RelayCause) {
        guard on[plug] != isOn else { return }
        on[plug] = isOn
        perform(.state(plug: plug, on: isOn, level: nil))
        happens(plug, .relayChanged(on: isOn, cause: cause))
    }

    private mutating func happens(_ plug: String, _ kind: PlugEvent.Kind) {
        sequence += 1
        let event = PlugEvent(sequence: sequence, boot: boot, time: now, kind: kind)
        perform(.happened(plug: plug, event, age: .zero))
    }

    private func words(_ command: PlugCommand) -> String {
        switch command {
        case .setRelay(let isOn, let autoOff):
            (isOn ? "on" : "off") + (autoOff.map { " for \(Int($0.inSeconds)) s" } ?? "")
        case .setLevel(let level, let transition): "\(level.permille) over \(Int(transition.inSeconds)) s"
        case .identify, .resetProtection, .rename, .configure: "\(command)"
        }
    }
}
