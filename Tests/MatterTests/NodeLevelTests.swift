import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@testable import Matter

private func fields(_ values: UInt64?...) -> TLVValue {
    .structure(
        values.enumerated().map { TLVElement(.context(UInt8($0.offset)), $0.element.map { .unsigned($0) } ?? .null) })
}

@Suite struct NodeLevelTests {
    private var fixture: NodeFixture
    private let session: Accessor

    init() throws {
        fixture = try NodeFixture()
        session = try fixture.commission()
        look(100)
    }

    private mutating func look(_ level: UInt8, isOn: Bool = true) {
        fixture.node.look(PlugValues(isOn: isOn, level: level), now: fixture.now)
    }

    private mutating func perform(_ command: LevelControl.Command, _ values: TLVValue) -> [NodeCommand] {
        fixture.perform(.levelControl, command, values, as: session).commands
    }

    private func value(_ attribute: LevelControl.Attribute) throws -> TLVValue {
        try fixture.read(.levelControl, attribute, on: 1)
    }

    @Test("Levels are limited to 1 and 254", arguments: [(0, 1), (1, 1), (128, 128), (254, 254)] as [(UInt64, UInt8)])
    mutating func limits(level: UInt64, target: UInt8) {
        #expect(
            perform(.moveToLevel, fields(level, 0, 0, 0)) == [.level(target, transition: .zero, withOnOff: false)])
        #expect(
            perform(.moveToLevelWithOnOff, fields(level, nil, 0, 0))
                == [.level(target, transition: .zero, withOnOff: true)])
    }

    @Test(
        "Fields outside their range are rejected",
        arguments: [
            (.moveToLevel, fields(255, 0, 0, 0), .constraintError),
            (.moveToLevel, fields(5, 0x1_0000, 0, 0), .constraintError),
            (.moveToLevel, fields(5), .invalidCommand), (.move, fields(2, 5, 0, 0), .constraintError),
            (.move, fields(0, 0, 0, 0), .invalidCommand), (.step, fields(0, 0, 0, 0, 0), .invalidCommand),
            (.stop, .fields(), .invalidCommand),
        ] as [(LevelControl.Command, TLVValue, InteractionStatusCode)])
    mutating func invalidFields(command: LevelControl.Command, values: TLVValue, code: InteractionStatusCode) {
        let result = fixture.perform(.levelControl, command, values, as: session)
        #expect(result.commands == [])
        #expect(result.reply == .status(InteractionStatus(code)))
    }

    @Test("During a transition, the level and the remaining time are computed, and its end is reported")
    mutating func transition() throws {
        #expect(
            perform(.moveToLevel, fields(200, 100, 0, 0)) == [.level(200, transition: .seconds(10), withOnOff: false)])
        fixture.wait(.seconds(5))
        look(149)
        #expect(try value(.currentLevel) == .unsigned(150))
        #expect(try value(.remainingTime) == .unsigned(50))
        _ = fixture.node.takeChanges()
        fixture.wait(.seconds(5))
        #expect(fixture.node.takeChanges() == [ConcretePath(1, 8, 0), ConcretePath(1, 8, 1)])
        look(200)
        #expect(try value(.currentLevel) == .unsigned(200))
        #expect(try value(.remainingTime) == .unsigned(0))
        #expect(fixture.node.nextDeadline == nil)
    }

    @Test("A transition ends when a user changes the level or switches the load off")
    mutating func interruptedTransition() throws {
        _ = perform(.moveToLevel, fields(200, 100, 0, 0))
        look(20)
        #expect(try value(.currentLevel) == .unsigned(20))
        _ = perform(.moveToLevel, fields(200, 100, 0, 0))
        look(30, isOn: false)
        #expect(try value(.remainingTime) == .unsigned(0))
        #expect(try value(.currentLevel) == .unsigned(30))
    }

    @Test("Move takes the time of its rate, and Stop keeps the present level")
    mutating func moveAndStop() {
        #expect(
            perform(.move, fields(0, 10, 0, 0)) == [.level(254, transition: .milliseconds(15_400), withOnOff: false)])
        fixture.wait(.seconds(2))
        #expect(perform(.stop, fields(0, 0)) == [.level(120, transition: .zero, withOnOff: false)])
        look(120)
        #expect(perform(.stop, fields(0, 0)) == [])
        #expect(
            perform(.moveWithOnOff, fields(1, 255, 0, 0))
                == [.level(1, transition: .milliseconds(119_000 / 255), withOnOff: true)])
        #expect(perform(.move, fields(1, nil, 0, 0)) == [.level(1, transition: .zero, withOnOff: false)])
        look(1)
        #expect(perform(.move, fields(1, 5, 0, 0)) == [])
        // With On/Off, the lowest level switches the load off.
        #expect(perform(.moveWithOnOff, fields(1, nil, 0, 0)) == [.level(1, transition: .zero, withOnOff: true)])
    }

    @Test("Step is cut off at the limits and takes a proportional time")
    mutating func step() {
        #expect(
            perform(.step, fields(0, 200, 100, 0, 0)) == [
                .level(254, transition: .milliseconds(7700), withOnOff: false)
            ])
        fixture.wait(.seconds(8))
        look(254)
        #expect(perform(.step, fields(0, 1, 0, 0, 0)) == [])
        #expect(perform(.step, fields(1, 255, nil, 0, 0)) == [.level(1, transition: .zero, withOnOff: false)])
        look(1)
        #expect(perform(.stepWithOnOff, fields(1, 10, nil, 0, 0)) == [.level(1, transition: .zero, withOnOff: true)])
    }

    @Test("While the load is off, a command needs On/Off or the option ExecuteIfOff")
    mutating func loadIsOff() throws {
        look(100, isOn: false)
        #expect(perform(.moveToLevel, fields(50, 0, 0, 0)) == [])
        #expect(perform(.moveToLevel, fields(50, 0, 1, 1)) == [.level(50, transition: .zero, withOnOff: false)])
        #expect(
            fixture.write(.levelControl, LevelControl.Attribute.options, on: 1, .unsigned(1), as: session) == .success)
        #expect(perform(.moveToLevel, fields(50, 0, 0, 0)) == [.level(50, transition: .zero, withOnOff: false)])
        #expect(perform(.moveToLevel, fields(50, 0, 1, 0)) == [])
        // A load that is off starts at the lowest level.
        #expect(
            perform(.moveWithOnOff, fields(0, 253, 0, 0)) == [.level(254, transition: .seconds(1), withOnOff: true)])
    }

    @Test("A long transition is shortened to the plug's limit, and null levels are written")
    mutating func longTransitionsAndNull() throws {
        #expect(
            perform(.moveToLevel, fields(5, 0xFFFE, 0, 0))
                == [.level(5, transition: LevelLimits.longestTransition, withOnOff: false)])
        #expect(
            fixture.write(.levelControl, LevelControl.Attribute.onLevel, on: 1, .unsigned(0), as: session)
                == .constraintError)
        #expect(
            fixture.write(.levelControl, LevelControl.Attribute.onLevel, on: 1, .unsigned(7), as: session) == .success)
        #expect(fixture.write(.levelControl, LevelControl.Attribute.onLevel, on: 1, .null, as: session) == .success)
        #expect(try value(.onLevel) == .null)
    }
}
