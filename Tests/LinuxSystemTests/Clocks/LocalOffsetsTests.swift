import Testing

@testable import LinuxSystem

struct LocalOffsetsTests {
    @Test("Changes of the offset are found to the second") func changesAreFoundToTheSecond() {
        let (spring, autumn) = (1_774_746_000, 1_792_890_000)
        let year = LocalOffsets(from: 1_767_225_600, to: 1_798_761_600) { (spring..<autumn).contains($0) ? 7200 : 3600 }
        #expect(year.initial == 3600)
        #expect(year.changes == [.init(second: spring, offset: 7200), .init(second: autumn, offset: 3600)])
    }

    @Test("A zone with a constant offset has no changes") func aZoneWithoutChangesHasNone() {
        #expect(LocalOffsets(from: 0, to: 1 << 50) { _ in 19_800 }.changes.isEmpty)
        #expect(LocalOffsets(from: 5, to: 5) { $0 }.initial == 5)
    }
}
