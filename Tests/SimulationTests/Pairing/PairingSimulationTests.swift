import Foundation
import SimulatedLAN
import Testing

@testable import PlugProtocol

@Suite struct PairingSimulationTests {
    /// Runs strangers, guessers, replayed proofs, a man in the middle, a pairing window that is open at times, and
    /// faults. Only callers that proved the code are accepted, and they can always connect again.
    @Test("Only callers that proved the setup code are paired, and they can reconnect")
    func nobodyGetsInWhoDidNotProveTheCode() throws {
        var ends: [String: Int] = [:]
        var (welcomes, resets) = (0, 0)
        try SeedPlan(environment: ProcessInfo.processInfo.environment).run { (seed) throws(SimulationFailure) in
            var house = PairingHouse(seed: seed)
            try house.run()
            resets += house.plug.resets
            for (_, caller) in house.callers {
                welcomes += caller.welcomes
                for result in caller.results { ends["\(caller.name) \(result.word)", default: 0] += 1 }
                let refusals = caller.told.compactMap {
                    if case .goodbye(let wire) = $0 { wire.model.reason } else { nil }
                }
                for reason in refusals { ends["\(caller.name) received \(reason)", default: 0] += 1 }
            }
        }
        print(
            "resets: \(resets)",
            ends.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
        // Every kind of outcome occurred.
        #expect(resets > 0)
        #expect(welcomes > 0 && ends["desk paired"] ?? 0 > 0 && ends["phone paired"] ?? 0 > 0)
        #expect(ends["desk window closed"] ?? 0 > 0)
        #expect(ends["guesser wrong code"] ?? 0 > 0 && ends["guesser paired"] == nil)
        #expect(ends["lured wrong code"] ?? 0 > 0 && ends["lured paired"] == nil)
        #expect(ends["replayer received wrongCode"] ?? 0 > 0)
        #expect(ends["stranger received notPaired"] ?? 0 > 0)
    }
}

extension Result<PairedPlug, PairingError> {
    fileprivate var word: String {
        switch self {
        case .success: "paired"
        case .failure(.windowClosed): "window closed"
        case .failure(.wrongCode): "wrong code"
        case .failure(.notThePlug): "not the plug"
        case .failure(.refused): "refused"
        case .failure(.protocolFault): "protocol fault"
        case .failure(.silent): "silent"
        case .failure(.connectionLost): "connection lost"
        }
    }
}
