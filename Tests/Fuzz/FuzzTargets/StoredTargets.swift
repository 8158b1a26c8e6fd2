import Appliance
import DurableRules
import Metering
import PlugModel
import PlugProtocol
import ProtocolCore
import RuleModel
import TestSupport

extension FuzzTarget {
    /// Decodes records of the plug's mirror, each given as a payload with a two-byte length; the correct checksums are
    /// added. Valid records are unchanged when written again, and a plug can start with them.
    static let mirror = FuzzTarget(
        name: "mirror",
        seeds: { [framed(payloads(of: written))] },
        check: { bytes in
            let records = decode(encode([head]) + datagrams(in: bytes).flatMap(record))
            try require(decode(encode(records)) == records, "the records change")
            var memory = PlugMemory(appliance: ApplianceMemory(powerLost: false))
            var isWhole = true
            for record in records.dropFirst() where isWhole {
                isWhole = memory.restore(record, limits: PlugMemory.Limits())
            }
            let journal = memory.journal
            let kept = journal.read(after: 0, limit: 99)
            try require(kept.allSatisfy { journal[$0.sequence] == $0 }, "the journal's index is wrong: \(kept)")
            try checkLife(with: memory)
            return records.count > 1
        })

    /// Decodes the stored memory of running rules, without the hash at its end.
    static let houseMemory = FuzzTarget(
        name: "house-memory",
        seeds: { [StoredRuleState(), scripted].map { Array($0.encoded(at: moment).dropLast(16)) } },
        check: { bytes in
            let memory: StoredRuleState
            do throws(StateDecodingError) {
                memory = try StoredRuleState(decoding: StoredRuleState.sealed(bytes), at: moment)
            } catch {
                switch error {
                case .tooShort(let offset), .tooLong(let offset):
                    try require((0...bytes.count + 16).contains(offset), "\(error) in \(bytes.count) bytes")
                case .notOurs, .version, .checksum, .malformed, .outOfRange: break
                }
                return false
            }
            // The first decoding clamps times that are centuries away.
            let cut = try StoredRuleState(decoding: memory.encoded(at: moment), at: moment)
            let again = try StoredRuleState(decoding: cut.encoded(at: moment), at: moment)
            try require(
                cut.plugs == memory.plugs && cut.commands.count == memory.commands.count && again == cut
                    && cut.calls.count == memory.calls.count && cut.scripts.count == memory.scripts.count,
                "the memory changes")
            return true
        })

    /// The memory of a script that has answered one call and has another pending.
    private static var scripted: StoredRuleState {
        let call = RuleAction.call(ScriptHandler(script: "hall.lua", index: 0))
        let rule = Rule(name: "hall.lua:1", triggers: [.button(plug: "Hall", .single)], actions: [call])
        var rules = DurableRuleEngine(rules: [rule], now: FuzzedPlug.now)
        func store(_ events: DurableRuleEvent...) {
            var events = events[...]
            while let event = events.popFirst() {
                for action in rules.handle(event, now: FuzzedPlug.now) {
                    switch action {
                    case .store: events.append(.stored)
                    case .call(let call, _) where call.firing.cause.event == 1:
                        var answer = ScriptAnswer()
                        answer.timers = [.init(name: "lights out", delay: .seconds(600))]
                        answer.actions = [.turnOn(["Hall"])]
                        answer.state = "{}"
                        events.append(.callFinished(call.id, .answered(answer)))
                    case .call, .send, .withdraw, .perform, .acknowledge, .tell: break
                    }
                }
            }
        }
        let presses = [1, 2].map { sequence in
            PlugEvent(sequence: sequence, boot: FuzzedPlug.boot, time: FuzzedPlug.now, kind: .buttonPressed(.single))
        }
        let id = PlugID(rawValue: "00000000a001")!
        store(
            .connected(plug: "Hall", id: id, boot: FuzzedPlug.boot),
            .snapshot(plug: "Hall", PlugState(relayOn: false)))
        for press in presses { store(.event(plug: "Hall", press, age: .zero)) }
        return rules.memory
    }

    private static let moment = HostMoment(
        boot: FuzzedPlug.boot, instant: FuzzedPlug.now, nanosecondsSince1970: 1_700_000_000_000_000_000)

    /// The mirror of a plug that ran for some seconds.
    private static var written: [MirrorRecord] {
        var machine = plug(with: PlugMemory())
        var now = FuzzedPlug.now
        var records: [MirrorRecord] = []
        func mirrored(_ event: PlugMachine.Event) {
            for case .mirror(let more) in machine.handle(event, now: now) { records += more }
        }
        mirrored(.started)
        for second in 0..<5 {
            mirrored(.appliance(.buttonEdge(down: true, at: now)))
            now = now + .milliseconds(100)
            mirrored(.appliance(.buttonEdge(down: false, at: now)))
            mirrored(.appliance(.measured(Measurement(deciwatts: Int32(second) * 7, decivolts: 2300, milliamperes: 5))))
            now = now + .seconds(1)
            mirrored(.deadlineReached)
        }
        let alternating = AlternatingPower(
            apparentDecivoltAmperes: 36, reactiveDecivars: -8, powerFactorThousandths: -975, millihertz: 50_000)
        let state = PlugState(
            relayOn: false,
            reading: Reading(time: now, deciwatts: 35, alternating: alternating, milliwattHours: 2), tripped: .restTime)
        let reset = PlugEvent(
            sequence: machine.nextSequence, boot: FuzzedPlug.boot, time: now,
            kind: .protectionReset(.weldedRelay, cause: .controller(name: "Desk", request: Guest.request(9))))
        return records + machine.memory.records + [
            .event(reset),
            .request(FinishedRequest(CommandID(Guest.request(9), of: .desk), .done(state, event: reset.sequence))),
            .unnumbered(UnnumberedEvent(.buttonPressed(.double), at: now)),
        ]
    }

    /// The first record of every mirror: the boot of all its events and the plug's id.
    private static let head = MirrorRecord.begins(FuzzedPlug.boot, identity.id)

    private static let identity = PlugServer.Identity(
        id: PlugID(rawValue: "0123456789ab")!, name: "Lamp", capabilities: [.relay, .dimmer, .meter], firmware: "1.0",
        boot: FuzzedPlug.boot)

    private static func plug(with memory: PlugMemory) -> PlugMachine {
        PlugMachine(ApplianceConfiguration(), identity: identity, access: .knowing(), memory: memory)
    }

    /// Runs a plug with this memory for a minute, with a flash that does not answer: it starts, its button is pressed,
    /// and its mirror is encoded and decoded.
    private static func checkLife(with memory: PlugMemory) throws {
        var machine = plug(with: memory)
        var now = FuzzedPlug.now
        _ = machine.handle(.started, now: now)
        let first = machine.nextSequence
        try require(first >= memory.journal.nextSequence, "the sequence numbers decreased")
        _ = machine.handle(.appliance(.buttonEdge(down: true, at: now)), now: now)
        for _ in 0..<200 {
            guard let deadline = machine.nextDeadline, deadline < FuzzedPlug.now + .seconds(60) else { break }
            now = max(now, deadline)
            _ = machine.handle(.deadlineReached, now: now)
        }
        _ = machine.handle(.appliance(.buttonEdge(down: false, at: now)), now: now)
        try require(machine.nextSequence > first, "the press got no number")
        try require(machine.memory.unnumbered.isEmpty, "an event waits for flash forever")
        let records = [head] + machine.memory.records
        try require(decode(encode(records)) == records, "the plug's own mirror changes")
    }

    private static func encode(_ records: [MirrorRecord]) -> [UInt8] {
        var encoder = MirrorEncoder()
        for record in records { encoder.append(record) }
        return encoder.bytes
    }

    private static func decode(_ bytes: [UInt8]) -> [MirrorRecord] {
        var decoder = MirrorDecoder(bytes)
        var records: [MirrorRecord] = []
        while let record = try? decoder.next() { records.append(record) }
        return records
    }

    /// Returns a record with its length and checksum, as in the mirror's file.
    private static func record(_ payload: [UInt8]) -> [UInt8] {
        let sum = Checksum.crc32(payload.span)
        let head = [UInt32(payload.count), sum].flatMap { number in
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
        }
        return head + payload
    }

    private static func payloads(of records: [MirrorRecord]) -> [[UInt8]] {
        records.map { Array(encode([$0]).dropFirst(8)) }
    }
}
