import Metering
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport
import Testing

@testable import Appliance

/// Tests of the audit entries that a plug records, and of reading them.
@Suite struct AuditTests {
    private func house(_ access: PlugServer.Access = .knowing()) -> House {
        var house = House(access: access, audit: AuditLog())
        house.join(desk, name: "Tablet")
        house.actions = []
        return house
    }

    private let owner = PairedControllers.Controller(key: .desk, name: "Desk").auditActor

    private func notes(_ house: House) -> [AuditNote] { house.machine.audit!.entries.map(\.note) }

    private func writes(_ house: House) -> [AuditLog.Write] {
        house.actions.compactMap { if case .keepAudit(let write) = $0 { write } else { nil } }
    }

    /// Reads the log through a session, as a controller does.
    private func read(_ house: inout House, after: UInt64 = 0, limit: UInt32? = nil) -> AuditPage? {
        house.heard[desk] = []
        house.hear(desk, .request(.fetchAudit(after: after, limit: limit)))
        return house.heard[desk, default: []].compactMap {
            if case .answer(.audit(.success(let page))) = $0 { page } else { nil }
        }.last
    }

    @Test("Changes of the name and the settings are recorded with the actor and the previous value")
    func aNewNameAndOtherSettingsSayWhoAndWhatWasBefore() {
        var house = house()
        house.command(request(1), .rename("Lounge"))
        house.command(request(2), .configure(SettingsChange(powerOn: .value(.off))))
        house.command(request(3), .configure(SettingsChange(powerOn: .value(.off))))
        #expect(
            notes(house) == [
                AuditNote(.firmware, by: .plug, "1.0"), AuditNote(.renamed, by: owner, "Lamp to Lounge"),
                AuditNote(.configured, by: owner, "power-on off, before: as configured"),
            ], "a change without effect was recorded, or the actor's name is not that of its pairing")
        #expect(writes(house).map { $0.entries.count } == [1, 1])
        #expect(read(&house)?.entries.map(\.note) == notes(house))
    }

    @Test("A refused command is recorded with the actor and the reason, and repetitions are counted")
    func aRefusedCommandSaysWhoAndWhy() {
        var house = house()
        house.isFlashWritable = false
        house.command(request(1), .rename("Lounge"))
        house.isFlashWritable = true
        house.command(request(2), .setLevel(.full, transition: .zero))
        house.command(request(3), .setLevel(.full, transition: .zero))
        #expect(
            notes(house).dropFirst() == [
                AuditNote(.refused, by: owner, isRefused: true, "rename: storage failed"),
                AuditNote(.refused, by: owner, isRefused: true, "dim: unsupported"),
            ])
        #expect(house.machine.audit?.entries.last?.count == 2)
    }

    @Test("Refused strangers share one counted entry") func strangersAreNotedAsOne() {
        var house = house()
        for number in 10..<20 as Range<UInt64> {
            let stranger = ConnectionID(rawValue: number)
            house.controllers[stranger] = ControllerSession(name: "Desk")
            house.feed(.server(.opened(PlugServer.Opening(stranger, of: PublicKey(madeUp: number)))))
            house.hear(stranger, .connected)
        }
        let entry = house.machine.audit?.entries.last
        #expect(entry?.note.kind == .refused && entry?.note.detail == "hello: not paired" && entry?.count == 10)
        guard case .stranger = entry?.note.actor else { return #expect(Bool(false), "\(entry as Any)") }
    }

    @Test("Each begin and end of reachability from the internet is recorded once")
    func reachability() {
        var house = house()
        let (first, second) = ("198.51.100.7 port 4711", "203.0.113.9 port 4711")
        for address in ["198.51.100.7", "198.51.100.7", "203.0.113.9"] {
            house.feed(.reachability([.mapped(address: address, port: 4711, isPublic: true)]))
        }
        house.feed(.reachability([.unmapped(reason: "the network has no router", hint: nil)]))
        house.feed(.reachability([.mapped(address: "192.168.7.2", port: 4711, isPublic: false)]))
        house.feed(.reachability([]))
        #expect(
            notes(house).dropFirst() == [
                AuditNote(.reachable, by: .plug, first), AuditNote(.unreachable, by: .plug, first),
                AuditNote(.reachable, by: .plug, second), AuditNote(.unreachable, by: .plug, second),
            ])
    }

    @Test("The entry of a removal is written before the list of controllers")
    func aRemovalIsWrittenBeforeTheListIs() throws {
        let gone = PublicKey(madeUp: 9)
        var house = house(.knowing([.desk, gone]))
        house.hear(desk, .request(.removeController(fingerprint: gone.fingerprint)))
        #expect(notes(house).last == AuditNote(.removed, by: owner, "Desk 2 (\(gone.fingerprint.prefix(12)))"))
        let storage = house.actions.filter {
            switch $0 {
            case .keepAudit, .keep: true
            default: false
            }
        }
        guard case .keepAudit(let write) = storage.first, case .keep = storage.last, storage.count == 2 else {
            return #expect(Bool(false), "\(storage)")
        }
        #expect(write.entries.map(\.note.kind) == [.removed])
    }

    @Test("Pairings and wrong codes are recorded") func pairingsAndWrongCodesAreNoted() {
        var house = House(access: .knowing([]), audit: AuditLog())
        let wrong = try! SetupCode(text: "AAAA-AAAA-AAAA-AAAA")
        for number in 5...6 as ClosedRange<UInt64> {
            var session = PairingSession(name: "Tablet", code: number == 5 ? wrong : .label)
            let id = ConnectionID(rawValue: number)
            house.feed(.server(.opened(PlugServer.Opening(id))))
            let nonce = [UInt8](repeating: 9, count: 32)
            var pending = session.handle(.connected(plugKey: .plug, ownKey: .desk, nonce: nonce), now: house.now)
            while !pending.isEmpty {
                guard case .send(let bytes) = pending.removeFirst() else { continue }
                for action in house.machine.handle(.server(.received(id, bytes)), now: house.now) {
                    if case .server(.send(id, let bytes)) = action {
                        pending += session.handle(.received(bytes), now: house.now)
                    }
                }
            }
            house.run(for: .seconds(60))
        }
        let marks = notes(house).dropFirst()
        #expect(marks.map(\.kind) == [.pairingFailed, .paired])
        #expect(marks.first?.isRefused == true && marks.first?.detail == "wrong setup code")
        #expect(marks.last?.actor == .controller(name: "Tablet", key: String(PublicKey.desk.fingerprint.prefix(12))))
    }

    @Test("A factory reset names its actor, and a failed one is recorded as refused with the actor")
    func whoHadItResetIsToldAndWhereThatFailsTheLogSaysIt() {
        var house = house()
        house.isFlashWritable = false
        house.hear(desk, .request(.factoryReset))
        #expect(
            notes(house).last == AuditNote(.factoryReset, by: owner, isRefused: true, "flash cannot be written"))
        house.isFlashWritable = true
        house.actions = []
        house.edge(down: true)
        house.run(for: .seconds(15))
        #expect(house.actions.contains(.factoryReset(by: .button)))
        #expect(
            !house.actions.contains { if case .keepAudit = $0 { true } else { false } },
            "the audit log was written during a factory reset")
    }

    @Test("While writes to flash fail, the relay can be switched and the audit log can be read")
    func aFlashThatFailsKeepsNothingWaiting() {
        var house = House(audit: AuditLog())
        house.isFlashWritable = false
        house.join(desk, name: "Desk")
        house.command(request(1), .setRelay(on: true, autoOff: nil))
        #expect(house.machine.state.relayOn)
        house.command(request(2), .rename("Lounge"))
        #expect(read(&house)?.entries.map(\.note.kind) == [.firmware, .refused])
        house.isFlashWritable = true
        house.actions = []
        house.run(for: .seconds(400))
        #expect(writes(house).map(\.isWhole) == [true])
    }

    @Test("An orderly stop writes the audit entries that flash does not have yet") func anOrderlyStopWritesWhatWaits() {
        var house = house()
        for number in 1...2 as ClosedRange<UInt8> {
            house.command(request(number), .setLevel(.full, transition: .zero))
        }
        house.actions = []
        house.feed(.stopping)
        #expect(writes(house).flatMap(\.entries).map(\.count) == [2])
    }

    @Test("A plug without an audit log answers with an empty page") func aPlugWithoutALogAnswersWithNothing() {
        var house = House()
        house.join(desk, name: "Desk")
        #expect(read(&house) == AuditPage([], isLast: true))
    }
}
