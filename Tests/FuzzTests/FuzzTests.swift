import FuzzTargets
import ProtocolCore
import TestSupport
import Testing

@Suite struct FuzzTests {
    @Test(
        "Each seed of a fuzz target is valid input, except for txt-record", arguments: FuzzTarget.all)
    func seedsAreUnderstood(_ target: FuzzTarget) async throws {
        let seeds = target.seeds()
        #expect(!seeds.isEmpty)
        for (index, seed) in seeds.enumerated() {
            let understood = try await target.check(seed)
            #expect(understood || target.name == "txt-record", "seed \(index) of \(target)")
        }
    }

    @Test(
        "The corpus of a fuzz target violates no invariant", arguments: FuzzTarget.all)
    func corpusKeepsEveryPromise(_ target: FuzzTarget) async throws {
        let inputs = try Corpus.inputs(of: target)
        #expect(!inputs.isEmpty)
        for input in inputs {
            await #expect(throws: Never.self, "\(target)/\(input.name)") { _ = try await target.check(input.bytes) }
        }
    }

    @Test(
        "Mutated inputs of a fuzz target violate no invariant", arguments: FuzzTarget.all)
    func changedInputKeepsEveryPromise(_ target: FuzzTarget) async throws {
        var random = Fuzzing.random(1)
        let seeds = target.seeds()
        let inputs = try Corpus.inputs(of: target).map(\.bytes) + seeds
        var (rounds, understood) = (0, 0)
        for _ in FuzzRounds(1000, sharedBy: FuzzTarget.all.count) {
            // Most inputs of the corpus are malformed, so half of the inputs are seeds.
            let chosen = try #require((random.chance(0.5) ? seeds : inputs).randomElement(using: &random))
            let bytes = Mutation.change(chosen, like: inputs, using: &random)
            rounds += 1
            do {
                if try await target.check(bytes) { understood += 1 }
            } catch {
                Issue.record("\(target): \(error); the input in hexadecimal: \(hexadecimal(bytes))")
                break
            }
        }
        // Inputs that are rejected at their first byte test nothing.
        #expect(understood > rounds / 100, "only \(understood) of \(rounds) inputs were accepted as valid")
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
