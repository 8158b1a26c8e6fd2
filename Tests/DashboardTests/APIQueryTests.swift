import ProtocolCore
import TestSupport
import Testing

@testable import Dashboard

@Suite struct APIQueryTests {
    private func fault(_ query: String, once: Set<String> = ["from", "to", "limit"]) -> Int? {
        do throws(Fault) {
            let parameters = try QueryParameters(query, once: once, repeatable: ["plug"])
            _ = try parameters.span(now: moment, default: .seconds(600))
            _ = try parameters.whole("limit", 1...1000, default: 100)
            return nil
        } catch {
            return error.status.code
        }
    }

    @Test("Known query parameters are decoded")
    func whatIsKnownIsRead() throws {
        let query = try QueryParameters(
            "plug=Living%20Room+Lamp&plug=%F0%9F%92%A1&from=2026-11-20T07:30:00%2B01:00", once: ["from"],
            repeatable: ["plug"])
        #expect(query.all("plug") == ["Living Room Lamp", "💡"])
        let span = try query.span(now: moment, default: nil)
        #expect(span.lowerBound == 1_795_156_200_000 && span.upperBound == 1_795_251_683_456)
        // Users often do not encode the plus sign of the offset.
        #expect(fault("from=2026-11-20T07:30:00+01:00") == nil)
        #expect(fault("") == nil && fault("&&") == nil)
    }

    @Test("Unknown, repeated, malformed and out-of-range parameters are rejected")
    func whatIsNotKnownIsRefused() {
        for query in [
            "form=2026-11-20T07:30:00Z", "from=2026-11-20T07:30:00Z&from=2026-11-20T07:30:00Z", "from=", "from=now",
            "from=2026-11-20", "from=2026-02-30T00:00:00Z", "from=2026-11-20T07:30:00", "limit=ten", "limit=+5",
            "limit=1.5", "%ff=1", "from=%zz", "from=%2", "limit",
        ] { #expect(fault(query) == 400, "\(query)") }
        #expect(fault("limit=0") == 422 && fault("limit=1001") == 422)
        #expect(fault("from=2026-11-20T07:30:00Z&to=2026-11-20T07:29:00Z") == 422)
    }

    @Test("Any query is parsed or rejected")
    func anythingIsReadWithoutHarm() {
        var random = Fuzzing.random(10)
        let pieces = ["from", "to", "=", "&", "%", "%41", "+", "2026-11-20T07:30:00Z", "\u{301}", "é", "0", "plug"]
        for _ in FuzzRounds(2000) {
            let count = Int.random(in: 0...12, using: &random)
            let query = (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
            #expect([nil, 400, 422].contains(fault(query)))
        }
    }
}
