import PlugModel
import PlugProtocol
import ProtocolCore
import Testing

@testable import Appliance

/// Tests of changing the setup code.
@Suite struct CodeTests {
    private func code(_ number: UInt8) -> SetupCode {
        var random = SeededRandom(seed: UInt64(number))
        return SetupCode(drawnFrom: &random)
    }

    private func isChanged(_ house: House) -> Bool {
        house.heard[desk, default: []].contains { $0 == .answer(.codeChanged) }
    }

    private func refusals(_ house: House) -> [Refusal.Code] {
        house.heard[desk, default: []].compactMap { update in
            guard case .answer(.refused("new_code", let refusal)) = update else { return nil }
            return refusal.code
        }
    }

    @Test("A new setup code is in flash before it is confirmed") func itIsInFlashBeforeAnybodyHearsOfIt() {
        var house = House()
        house.join(desk, name: "Desk")
        house.hear(desk, .request(.newCode(code(1))))
        #expect(house.actions.contains(.keepCode(code(1))))
        #expect(isChanged(house) && house.machine.access.code == code(1) && house.machine.codeInWriting == nil)
    }

    @Test("If flash cannot be written, the previous setup code stays valid")
    func aFlashThatCannotBeWrittenLeavesTheOldOne() {
        var house = House()
        house.join(desk, name: "Desk")
        let before = house.machine.access.code
        house.isFlashWritable = false
        house.hear(desk, .request(.newCode(code(1))))
        #expect(refusals(house) == [.storageFailed] && !isChanged(house) && house.machine.access.code == before)
        house.isFlashWritable = true
        house.hear(desk, .request(.newCode(code(1))))
        #expect(isChanged(house))
    }

    @Test("A loop of code changes writes flash 12 times, and the further changes are refused")
    func aLoopOfChangesWearsNoFlash() {
        var house = House()
        house.join(desk, name: "Desk")
        house.actions = []
        for number in UInt8(0)..<40 { house.hear(desk, .request(.newCode(code(number)))) }
        #expect(house.actions.count { if case .keepCode = $0 { true } else { false } } == 12)
        #expect(refusals(house) == [Refusal.Code](repeating: .busy, count: 28))
        #expect(house.machine.access.code == code(11) && house.machine.codeInWriting == nil)
    }
}
