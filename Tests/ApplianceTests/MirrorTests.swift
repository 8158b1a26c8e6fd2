import Metering
import PlugModel
import ProtocolCore
import Testing

@testable import Appliance

@Suite struct MirrorTests {
    private static let boot = BootID(bytes: (0..<16).map { UInt8($0) })!
    private static let id = PlugID(rawValue: "0123456789ab")!

    private static func event(_ sequence: SequenceNumber, _ kind: PlugEvent.Kind) -> MirrorRecord {
        .event(PlugEvent(sequence: sequence, boot: boot, time: at(Double(sequence)), kind: kind))
    }

    private static func chunk(_ count: Int) -> SampleChunk {
        var encoder = SampleChunkEncoder()
        for number in 0..<count {
            _ = encoder.append(
                Sample(milliseconds: Int64(number) * 1000, deciwatts: Int32(number % 7), decivolts: 2300))
        }
        return encoder.chunk!
    }

    private static let full = PlugState(
        relayOn: true, level: DimLevel(percent: 12.5),
        reading: Reading(
            time: at(3), deciwatts: -4, decivolts: 2301, milliamperes: 17,
            alternating: AlternatingPower(
                apparentDecivoltAmperes: 39, reactiveDecivars: -38, powerFactorThousandths: -103, millihertz: 50_012),
            milliwattHours: 99),
        tripped: .overTemperature)

    /// Records of every kind, in an order that a plug could write.
    static let records: [MirrorRecord] = [
        .begins(boot, id), .journal(origin: 3, lossBefore: .powerLost, next: 7),
        event(7, .restarted(powerLost: true)), event(8, .restarted(powerLost: false)),
        event(9, .relayChanged(on: true, cause: .controller(name: "Küche", request: request(7), authority: .desk))),
        event(10, .relayChanged(on: false, cause: .button)), event(11, .relayChanged(on: true, cause: .protection)),
        event(12, .relayChanged(on: false, cause: .timer)), event(13, .relayChanged(on: true, cause: .powerOn)),
        event(14, .buttonPressed(.single)), event(15, .buttonPressed(.double)), event(16, .buttonPressed(.long)),
        event(17, .protectionTripped(.overPower)), event(18, .protectionTripped(.overCurrent)),
        event(19, .pairingFailed(failures: 3)), event(20, .controllerPaired(name: "Küche")),
        event(21, .controllerRemoved(name: "")),
        event(22, .protectionReset(.weldedRelay, cause: .controller(name: "Küche", request: request(8)))),
        event(23, .protectionTripped(.overVoltage)), event(24, .protectionTripped(.underVoltage)),
        event(25, .protectionTripped(.overTemperature)), event(26, .protectionTripped(.weldedRelay)),
        event(27, .protectionTripped(.restTime)), event(28, .protectionTripped(.switchingRate)),
        event(29, .protectionReset(.restTime, cause: .button)), .leap(to: 1 << 47),
        .request(FinishedRequest(CommandID(request(1), of: .desk), .done(full, event: 9))),
        .request(FinishedRequest(CommandID(request(2), of: .desk), .done(PlugState(relayOn: false), event: nil))),
        .request(FinishedRequest(CommandID(request(3), of: .desk), .refused(Refusal(.outOfRange, "Too far.")))),
        .sealedChunk(chunk(300)), .openChunk(chunk(5)),
        .state(
            StoredState(relayOn: true, level: DimLevel(percent: 50), milliwattHours: 12),
            ApplianceMemory.Timers(autoOff: at(40))),
        .state(
            StoredState(milliwattHours: 12, tripped: .overTemperature),
            ApplianceMemory.Timers(offSince: at(3), delayed: .powerOn)),
        .sample(Sample(milliseconds: 5000, deciwatts: 6), milliwattHours: 13),
        .sample(Sample(milliseconds: 6000, deciwatts: 6, decivolts: 1, milliamperes: 2), milliwattHours: 14),
        .state(StoredState(), ApplianceMemory.Timers()),
        .unnumbered(UnnumberedEvent(.relayChanged(on: true, cause: .button), at: at(30))),
        .unnumbered(UnnumberedEvent(.buttonPressed(.double), at: at(31))),
        .brokerTook(22),
    ]

    private static func bytes(_ records: [MirrorRecord]) -> [UInt8] {
        var encoder = MirrorEncoder()
        for record in records { encoder.append(record) }
        return encoder.bytes
    }

    private static func decode(_ bytes: [UInt8]) -> (records: [MirrorRecord], fault: MirrorFault?) {
        var decoder = MirrorDecoder(bytes)
        var records: [MirrorRecord] = []
        do throws(MirrorFault) {
            while let record = try decoder.next() { records.append(record) }
            return (records, nil)
        } catch {
            return (records, error)
        }
    }

    @Test("Every record survives encoding and decoding") func everyRecordSurvives() {
        let (records, fault) = Self.decode(Self.bytes(Self.records))
        #expect(records == Self.records)
        #expect(fault == nil)
    }

    @Test("The encoded bytes match the format") func theBytesStand() {
        #expect(
            Self.bytes([.leap(to: 0x0102)]) == [0, 0, 0, 9, 0x4C, 0xF0, 0x15, 0xCF, 4, 0, 0, 0, 0, 0, 0, 1, 2])
        let event = Self.event(2, .relayChanged(on: true, cause: .button))
        let unnumbered = MirrorRecord.unnumbered(UnnumberedEvent(.buttonPressed(.long), at: Instant(nanoseconds: 5)))
        #expect(Self.bytes([unnumbered])[8...] == [10, 0, 0, 0, 0, 0, 0, 0, 5, 5])
        #expect(Self.bytes([.brokerTook(0x0102)])[8...] == [11, 0, 0, 0, 0, 0, 0, 1, 2])
        #expect(
            Self.bytes([event])[8...] == [3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0x77, 0x35, 0x94, 0, 2, 1])
        let stored = StoredState(relayOn: true, level: .full, milliwattHours: 3, tripped: .overCurrent)
        let timers = ApplianceMemory.Timers(offSince: Instant(nanoseconds: 5), delayed: .button)
        let state = MirrorRecord.state(stored, timers)
        #expect(
            Self.bytes([state])[8...] == [6, 1, 3, 0xE8, 0, 0, 0, 0, 0, 0, 0, 3, 0, 1, 7, 1, 0, 0, 0, 0, 0, 0, 0, 5, 1])
    }

    @Test("A mirror of format 1 is accepted") func aMirrorOfTheFirstFormatIsTakenOver() throws {
        func framed(_ payload: [UInt8]) -> [UInt8] {
            let sum = Checksum.crc32(payload.span)
            return [UInt32(payload.count), sum].flatMap { number in
                [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
            } + payload
        }
        let head = [1, 1] + Self.boot.bytes + Array(Self.id.rawValue.utf8)
        let energy: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 3]
        let state: [UInt8] = [6, 1, 3, 0xE8] + energy + [1] + energy
        let reading: [UInt8] = [1] + energy + [0, 0, 0, 7, 0, 0] + energy
        let outcome: [UInt8] = [5] + request(1).bytes + [0, 1, 0] + reading + [0]
        let (records, fault) = Self.decode([head, state, outcome].flatMap(framed))
        #expect(fault == nil)
        let time = Instant(nanoseconds: 3)
        let plug = PlugState(relayOn: true, reading: Reading(time: time, deciwatts: 7, milliwattHours: 3))
        #expect(
            records == [
                .begins(Self.boot, Self.id),
                .state(StoredState(relayOn: true, milliwattHours: 3), ApplianceMemory.Timers(autoOff: time)),
                .request(FinishedRequest(CommandID(request(1), of: .unknown), .done(plug, event: nil))),
            ])
        #expect(Self.decode(framed([1, 4] + head.dropFirst(2))).fault?.reason == .badRecord)
        // Records that no plug writes are rejected.
        let unknown = Self.bytes([.begins(Self.boot, Self.id)]) + framed([6, 1, 3, 0xE8] + energy + [0, 0, 0, 3])
        #expect(Self.decode(unknown).fault?.reason == .badRecord)
    }

    @Test("The checksum is CRC-32 of IEEE 802.3") func theChecksumIsTheOneOfTheStandard() {
        let digits = Array("123456789".utf8)
        let sums = [Checksum.crc32(digits.span), Checksum.crc32(digits.span.extracting(0..<0))]
        #expect(sums == [0xCBF4_3926, 0])
    }

    @Test("A mirror that is truncated anywhere yields its complete records") func aTornTailIsCutOffWhereverItTears() {
        let bytes = Self.bytes(Self.records)
        var ends: [Int] = []
        for count in 1...Self.records.count { ends.append(Self.bytes(Array(Self.records[..<count])).count) }
        for length in bytes.indices {
            let whole = ends.filter { $0 <= length }.count
            let (records, fault) = Self.decode(Array(bytes[..<length]))
            #expect(records.count == whole)
            let start = whole == 0 ? 0 : ends[whole - 1]
            #expect(fault == (length == start ? nil : MirrorFault(.torn, at: start)))
        }
    }

    @Test("A damaged record is never accepted") func aDamagedRecordIsNeverTaken() {
        let whole = Self.bytes(Self.records)
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= 0x10
            let (records, fault) = Self.decode(bytes)
            #expect(fault != nil && records.count < Self.records.count, "byte \(index)")
            #expect(records[...] == Self.records[..<records.count], "byte \(index)")
        }
    }

    @Test("A memory is restored from its own records") func memoryComesBackFromItsOwnRecords() throws {
        var memory = PlugMemory(appliance: ApplianceMemory(powerLost: false))
        let taken = Self.records.dropFirst().map { memory.restore($0, limits: PlugMemory.Limits()) }
        #expect(!taken.contains(false))
        let written = memory.records
        var again = PlugMemory(appliance: ApplianceMemory(powerLost: false))
        for record in Self.decode(Self.bytes([.begins(Self.boot, Self.id)] + written)).records.dropFirst() {
            let isTaken = again.restore(record, limits: PlugMemory.Limits())
            #expect(isTaken)
        }
        #expect(again.records == written)
        #expect(again.journal.nextSequence == 1 << 47)
        #expect(again.journal.read(after: 0, limit: 99).map(\.sequence) == Array(7...29))
        #expect(again.requests.map(\.command.request) == [request(1), request(2), request(3)])
        #expect(again.samples.count == 307)
        #expect(again.appliance.state == StoredState())
        #expect(again.unnumbered.map(\.time) == [at(30), at(31)])
    }

    @Test("Records that do not continue the previous records are rejected") func recordsThatDoNotFollowAreNotTaken() {
        var memory = PlugMemory()
        let limits = PlugMemory.Limits()
        let records: [MirrorRecord] = [
            .begins(Self.boot, Self.id), Self.event(2, .buttonPressed(.single)), Self.event(1, .buttonPressed(.single)),
            Self.event(1, .buttonPressed(.single)), .leap(to: 2),
        ]
        let taken = records.map { memory.restore($0, limits: limits) }
        #expect(taken == [false, false, true, false, false])
        #expect(memory.journal.nextSequence == 2)
    }

    @Test("Waiting events get their numbers in the order of the events")
    func numbersComeToTheEventsThatWaitInTheirOrder() {
        var memory = PlugMemory()
        let waiting = [ButtonPress.single, .double].map { UnnumberedEvent(.buttonPressed($0), at: at(1)) }
        func numbered(_ sequence: SequenceNumber, _ press: ButtonPress) -> MirrorRecord {
            .event(PlugEvent(sequence: sequence, boot: Self.boot, time: at(1), kind: .buttonPressed(press)))
        }
        let records =
            waiting.map { MirrorRecord.unnumbered($0) } + [
                numbered(1, .double), numbered(2, .single), numbered(1, .single),
            ]
        let taken = records.map { memory.restore($0, limits: PlugMemory.Limits()) }
        #expect(taken == [true, true, false, false, true])
        #expect(memory.unnumbered == Array(waiting[1...]))
        #expect(memory.journal.nextSequence == 2)
    }
}
