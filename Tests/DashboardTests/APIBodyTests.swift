import ConfigurationFiles
import Foundation
import HouseCalendar
import PlugModel
import Presentation
import TestSupport
import Testing

@testable import Dashboard

@Suite struct APIBodyTests {
    /// Valid bodies, which the fuzzing changes.
    private static let samples = [
        "{\"on\": true, \"autoOff\": 3600}", "{\"level\": 30, \"over\": 2.5}", "{\"name\": \"Hall é\"}",
        "{\"powerOn\": \"last\", \"autoOff\": 0, \"powerLimit\": 1500.5, \"childLock\": true, \"lightOff\": \"22:00-07:00\"}",
        "{\"role\": \"guest\", \"seconds\": 3600}", "{\"hereOnly\": true}", "{\"room\": \"Küche\"}",
        "{\"currency\": \"EUR\", \"price\": 0.34, \"rates\": [{\"name\": \"night\", \"price\": 0.2, \"from\": \"22:00\"}]}",
        "{\"cost\": 60.5}", "{\"plugs\": [\"0123456789ab\", \"ba9876543210\"]}",
        "{\"plug\": \"Lamp\", \"code\": \"ABCD-EFGH-IJKL-MNOP\"}",
        "{\"file\": \"a.yaml\", \"text\": \"- rule: Night\\n\"}", "{\"text\": \"# é\", \"version\": \"00ff\"}",
        "{\"text\": \"- rule: Night\\n\", \"days\": 7}",
        """
        {"endpoint": "https://push.example.org/a", "auth": "BTBZMqHH6r4Tts7J_aSIgg", "p256dh": \
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"}
        """,
    ]
    private static let values = [
        "1e308", "-1e308", "1e-320", "9223372036854775808", "-1", "0.5", "0.05", "4294967296", "null", "[]", "{}",
        "\"\"",
        "\"never\"", "\"00:00-24:00\"", "\"owner\"", "\"\\u0000\"", "2592000.0004", "100000.04",
    ]

    private func read(_ bytes: Data) -> [Result<Void, Fault>] {
        [
            Result { () throws(Fault) in _ = try RelayBody.read(from: bytes).command() },
            Result { () throws(Fault) in _ = try LevelBody.read(from: bytes).command() },
            Result { () throws(Fault) in _ = try NameBody.read(from: bytes).command() },
            Result { () throws(Fault) in _ = try SettingsBody.read(from: bytes).change() },
            Result { () throws(Fault) in _ = try InvitationBody.read(from: bytes).grant() },
            Result { () throws(Fault) in _ = try UnpairBody.read(from: bytes) },
            Result { () throws(Fault) in _ = try RoomBody.read(from: bytes).name() },
            Result { () throws(Fault) in _ = try BudgetBody.read(from: bytes).budget(in: "EUR") },
            Result { () throws(Fault) in _ = try OrderBody.read(from: bytes).order() },
            Result { () throws(Fault) in _ = try PairingBody.read(from: bytes) },
            Result { () throws(Fault) in _ = try PushBody.read(from: bytes).checked(listed: []) },
            Result { () throws(Fault) in _ = try NewRuleFileBody.read(from: bytes) },
            Result { () throws(Fault) in _ = try RuleTextBody.read(from: bytes) },
            Result { () throws(Fault) in _ = try BacktestBody.read(from: bytes).wholeDays() },
            Result { () throws(Fault) in
                let record = try TariffBody.read(from: bytes).record
                do throws(ConfigurationError) { _ = try record.tariff() } catch { throw Fault.outOfRange("\(error)") }
            },
        ]
    }

    @Test("Each body is accepted by its own route only")
    func eachRouteTakesItsOwnBody() {
        for sample in Self.samples {
            let accepted = read(Data(sample.utf8)).filter { (try? $0.get()) != nil }
            #expect(accepted.count == 1, "\(sample)")
        }
    }

    @Test("Any body is accepted or rejected as malformed or out of range")
    func anythingIsReadWithoutHarm() {
        var random = Fuzzing.random(11)
        for _ in FuzzRounds(3000) {
            var text = Array(Self.samples.randomElement(using: &random)!.utf8)
            if Bool.random(using: &random),
                let colon = text.indices.filter({ text[$0] == UInt8(ascii: ":") }).randomElement(using: &random)
            {
                let end =
                    text[colon...].firstIndex { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}") } ?? text.endIndex
                text.replaceSubrange((colon + 1)..<end, with: Self.values.randomElement(using: &random)!.utf8)
            } else {
                text[Int.random(in: text.indices, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            for result in read(Data(text)) {
                guard case .failure(let fault) = result else { continue }
                #expect([400, 422].contains(fault.status.code), "\(String(decoding: text, as: UTF8.self))")
            }
        }
    }

    @Test("A budget has a cost in the currency of the tariff or an energy, within its limits")
    func budgets() throws {
        func read(_ text: String, in currency: String? = "EUR") -> Result<Budget, Fault> {
            Result { () throws(Fault) in try BudgetBody.read(from: Data(text.utf8)).budget(in: currency) }
        }
        #expect(try read("{\"cost\": 60}").get() == .cost(60, currency: "EUR"))
        #expect(try read("{\"activeEnergy\": 150000}", in: nil).get() == .energy(kilowattHours: 150))
        for (text, currency, status) in [
            ("{\"cost\": 60}", nil, 409), ("{\"cost\": 0}", "EUR", 422), ("{\"activeEnergy\": 0.9}", "EUR", 422),
            ("{\"cost\": 1e10}", "EUR", 422), ("{}", "EUR", 400), ("{\"cost\": 1, \"activeEnergy\": 1}", "EUR", 400),
        ] as [(String, String?, Int)] {
            guard case .failure(let fault) = read(text, in: currency) else {
                Issue.record("\(text) is accepted")
                continue
            }
            #expect(fault.status.code == status, "\(text)")
        }
    }

    @Test("An order has ids of different plugs")
    func orders() throws {
        func status(_ text: String) -> Int? {
            let result = Result { () throws(Fault) in try OrderBody.read(from: Data(text.utf8)).order() }
            return if case .failure(let fault) = result { fault.status.code } else { nil }
        }
        let ids = (0...HouseBoard.limit).map { "\"\(String(repeating: "0", count: 12 - "\($0)".count))\($0)\"" }
        #expect(status("{\"plugs\": [\(ids.dropLast().joined(separator: ","))]}") == nil)
        #expect(status("{\"plugs\": [\(ids.joined(separator: ","))]}") == 422)
        #expect(status("{\"plugs\": []}") == 422 && status("{\"plugs\": [\"Lamp\"]}") == 422)
        #expect(status("{\"plugs\": [\"0123456789ab\", \"0123456789ab\"]}") == 422)
        #expect(status("{\"plugs\": \"0123456789ab\"}") == 400 && status("{\"plugs\": [1]}") == 400)
    }

    @Test("The settings of a body become a change of the same settings")
    func settings() throws {
        let body = try SettingsBody.read(from: Data(Self.samples[3].utf8)).change()
        let wanted = SettingsChange(
            powerOn: .value(.last), autoOff: .value(.zero), powerLimit: .value(15_005), childLock: .value(true),
            lightOff: .value(try #require(DailySpan(text: "22:00-07:00"))))
        #expect(body == wanted)
    }
}
