import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

@Suite struct CallListTests {
    private static let firing = Firing(
        id: RequestID(bytes: [UInt8](repeating: 1, count: 16))!, rule: "hall.lua:1", cause: Firing.Cause(.person),
        time: .at(0))

    private func call(_ id: RequestID) -> StoredRuleState.Call {
        let handler = ScriptHandler(script: "hall.lua", index: 0)
        return .init(call: ScriptCall(id: id, handler: handler, firing: Self.firing), until: .at(1))
    }

    @Test("The list keeps the order and finds each call like a plain array")
    func itKeepsOrderAndFindsEachLikeAPlainList() {
        var random = SeededRandom(seed: 5)
        var list = PendingCalls()
        var plain: [RequestID] = []
        for _ in 0..<20_000 {
            if plain.count < 40 || Bool.random(using: &random) && plain.count < 900 {
                let id = RequestID(drawnFrom: &random)
                plain.append(id)
                let isNew = list.append(call(id))
                #expect(isNew)
            } else {
                let isFirst = Int.random(in: 0..<4, using: &random) > 0
                let id = isFirst ? plain[0] : plain.randomElement(using: &random)!
                plain.removeAll { $0 == id }
                let (removed, again) = (list.remove(id), list.remove(id))
                #expect(removed?.call.id == id && again == nil && list[id] == nil)
            }
            #expect(list.count == plain.count && list.first?.call.id == plain.first)
        }
        #expect(list.elements.map(\.call.id) == plain && plain.allSatisfy { list[$0] != nil })
        let isNew = list.append(call(plain[0]))
        #expect(!isNew)
        var other = PendingCalls()
        for id in plain { _ = other.append(call(id)) }
        #expect(other == list && other.hashValue == list.hashValue)
    }
}
