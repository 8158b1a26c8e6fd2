import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@testable import Matter

@Suite struct NodeSwitchingTests {
    private var fixture: NodeFixture
    private let session: Accessor

    init() throws {
        fixture = try NodeFixture()
        session = try fixture.commission()
        fixture.node.look(PlugValues(isOn: false, level: 100), now: fixture.now)
    }

    private mutating func perform(_ command: OnOff.Command, _ fields: TLVValue = .fields()) -> [NodeCommand] {
        fixture.perform(.onOff, command, fields, as: session).commands
    }

    private mutating func look(_ isOn: Bool, level: UInt8 = 100) {
        fixture.node.look(PlugValues(isOn: isOn, level: level), now: fixture.now)
    }

    private func value(_ attribute: OnOff.Attribute) throws -> TLVValue { try fixture.read(.onOff, attribute, on: 1) }

    @Test("A command is answered when the plug has performed or refused it")
    mutating func pendingReplies() throws {
        guard case .pending(let first) = fixture.invoke(.onOff, OnOff.Command.on, on: 1, as: session),
            case .pending(let second) = fixture.invoke(.onOff, OnOff.Command.off, on: 1, as: session)
        else { throw ReplyError(reply: .status(.success)) }
        #expect(
            fixture.effects.suffix(2) == [
                .ask(first, .on(true), from: "1/0000000011223344"),
                .ask(second, .on(false), from: "1/0000000011223344"),
            ])
        #expect(fixture.node.answered(second, .success) == .status(.success))
        #expect(fixture.node.answered(first, .invalidInState) == .status(InteractionStatus(.invalidInState)))
    }

    @Test("Commands are refused while too many wait for the plug")
    mutating func commandLimit() {
        var replies: [CommandReply] = []
        for _ in 0...EffectQueue.commandLimit {
            replies.append(fixture.invoke(.onOff, OnOff.Command.on, on: 1, as: session))
        }
        #expect(replies.last == .status(InteractionStatus(.busy)))
        #expect(replies.dropLast().allSatisfy { if case .pending = $0 { true } else { false } })
    }

    @Test("Toggle switches to the other state, and OnLevel applies when the load is switched on")
    mutating func toggle() {
        #expect(perform(.toggle) == [.on(true)])
        #expect(
            fixture.write(.levelControl, LevelControl.Attribute.onLevel, on: 1, .unsigned(50), as: session) == .success)
        #expect(perform(.toggle) == [.on(true), .level(50, transition: .zero, withOnOff: false)])
        look(true)
        #expect(perform(.toggle) == [.on(false)])
        #expect(perform(.on) == [.on(true)])
    }

    @Test("OnWithTimedOff counts down, and its end clears both times")
    mutating func timedOff() throws {
        let fields = TLVValue.fields((0, .unsigned(0)), (1, .unsigned(100)), (2, .unsigned(50)))
        #expect(perform(.onWithTimedOff, fields) == [.on(true, offAfter: .seconds(10))])
        look(true)
        fixture.wait(.seconds(4))
        #expect(try value(.onTime) == .unsigned(60))
        #expect(try value(.offWaitTime) == .unsigned(50))
        // A shorter time does not shorten the present one.
        let shorter = TLVValue.fields((0, .unsigned(1)), (1, .unsigned(10)), (2, .unsigned(50)))
        #expect(perform(.onWithTimedOff, shorter) == [.on(true, offAfter: .seconds(6))])
        fixture.wait(.seconds(6))
        look(false)
        #expect(try value(.onTime) == .unsigned(0))
        #expect(try value(.offWaitTime) == .unsigned(0))
    }

    @Test("After an early off, the waiting time refuses a timed on until it ends")
    mutating func waitingTime() throws {
        let fields = TLVValue.fields((0, .unsigned(0)), (1, .unsigned(100)), (2, .unsigned(50)))
        _ = perform(.onWithTimedOff, fields)
        look(true)
        #expect(perform(.off) == [.on(false)])
        look(false)
        fixture.wait(.seconds(1))
        #expect(try value(.offWaitTime) == .unsigned(40))
        #expect(perform(.onWithTimedOff, fields) == [])
        #expect(try value(.offWaitTime) == .unsigned(40))
        fixture.wait(.seconds(4))
        #expect(try value(.offWaitTime) == .unsigned(0))
        let onlyIfOn = TLVValue.fields((0, .unsigned(1)), (1, .unsigned(100)), (2, .unsigned(0)))
        #expect(perform(.onWithTimedOff, onlyIfOn) == [])
        #expect(perform(.onWithTimedOff, fields) == [.on(true, offAfter: .seconds(10))])
    }

    @Test("A written on time switches the load off later, and zero cancels it")
    mutating func writtenOnTime() {
        look(true)
        func write(_ value: UInt64) -> [NodeEffect] {
            let count = fixture.effects.count
            #expect(fixture.write(.onOff, OnOff.Attribute.onTime, on: 1, .unsigned(value), as: session) == .success)
            return Array(fixture.effects[count...])
        }
        let commands = [write(30), write(0), write(0xFFFF)].map { effects in
            effects.compactMap { if case .ask(_, let command, _) = $0 { command } else { nil } }
        }
        #expect(commands == [[.on(true, offAfter: .seconds(3))], [.on(true)], []])
    }

    @Test("OffWithEffect stores the global scene, and OnWithRecallGlobalScene restores it once")
    mutating func globalScene() throws {
        look(true, level: 77)
        let effect = TLVValue.fields((0, .unsigned(0)), (1, .unsigned(0)))
        #expect(perform(.offWithEffect, effect) == [.on(false)])
        #expect(try value(.globalSceneControl) == .boolean(false))
        look(false, level: 10)
        #expect(perform(.onWithRecallGlobalScene) == [.level(77, transition: .zero, withOnOff: true)])
        look(true, level: 77)
        #expect(try value(.globalSceneControl) == .boolean(true))
        #expect(perform(.onWithRecallGlobalScene) == [])
        let invalid = TLVValue.fields((0, .unsigned(2)), (1, .unsigned(0)))
        #expect(
            fixture.perform(.onOff, OnOff.Command.offWithEffect, invalid, as: session).reply
                == .status(InteractionStatus(.constraintError)))
    }

    @Test("Start-up settings apply when the power returns, and not after a restart of the process")
    mutating func startUp() throws {
        #expect(fixture.write(.onOff, OnOff.Attribute.startUpOnOff, on: 1, .unsigned(2), as: session) == .success)
        #expect(
            fixture.write(.levelControl, LevelControl.Attribute.startUpCurrentLevel, on: 1, .unsigned(30), as: session)
                == .success)
        let records = try #require(fixture.stored)
        for (reason, wasOn, commands) in [
            (.powerOn, false, [.on(true), .level(30, transition: .zero, withOnOff: false)]),
            (.powerOn, true, [.on(false)]), (.softwareReset, false, []), (.softwareUpdate, true, []),
        ] as [(MatterStartReason, Bool, [NodeCommand])] {
            var restarted = try NodeFixture(records: records, startReason: reason)
            restarted.node.look(PlugValues(isOn: wasOn, level: 100), now: restarted.now)
            let asked = restarted.takeEffects().compactMap { effect -> NodeCommand? in
                if case .ask(_, let command, _) = effect { command } else { nil }
            }
            #expect(asked == commands)
        }
    }

    @Test("Identify counts down and ends")
    mutating func identify() throws {
        let reply = fixture.perform(.identify, Identify.Command.identify, .fields((0, .unsigned(20))), as: session)
        #expect(reply.commands == [.identify(.seconds(20))])
        #expect(reply.reply == .status(.success))
        fixture.wait(.milliseconds(2500))
        #expect(try fixture.read(.identify, Identify.Attribute.identifyTime, on: 1) == .unsigned(18))
        #expect(try fixture.read(.identify, Identify.Attribute.identifyTime, on: 2) == .unsigned(0))
        _ = fixture.node.takeChanges()
        fixture.wait(.seconds(18))
        #expect(fixture.node.takeChanges().contains(ConcretePath(1, 3, 0)))
        #expect(try fixture.read(.identify, Identify.Attribute.identifyTime, on: 1) == .unsigned(0))
    }

    @Test("A change increases the data version of its cluster only")
    mutating func dataVersions() {
        _ = fixture.node.takeChanges()
        let version = fixture.node.dataVersion(of: 6, on: 1)
        let other = fixture.node.dataVersion(of: 3, on: 1)
        look(true)
        #expect(fixture.node.dataVersion(of: 6, on: 1) != version)
        #expect(fixture.node.dataVersion(of: 3, on: 1) == other)
        #expect(fixture.node.takeChanges() == [ConcretePath(1, 6, 0)])
        look(true)
        #expect(fixture.node.takeChanges().isEmpty)
    }
}
