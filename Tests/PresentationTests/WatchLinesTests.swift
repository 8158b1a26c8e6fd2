import LinuxSystem
import PlugClient
import PlugModel
import Presentation
import Testing

/// The cursors in the lines of `plugctl watch --json`, and the events of plugs that the start cursor does not contain.
@Suite struct WatchLinesTests {
    private let lamp = description.id
    private let early = WallTime(nanosecondsSince1970: moment.nanosecondsSince1970 - 60_000_000_000)
    private let late = WallTime(nanosecondsSince1970: moment.nanosecondsSince1970 + 60_000_000_000)

    private func press(_ sequence: SequenceNumber) -> PlugUpdate {
        .event(event(.buttonPressed(.single), sequence), age: .seconds(1))
    }

    private func known(_ record: WatchRecord?) throws -> [PlugID: SequenceNumber] {
        try WatchCursor(text: try #require(record?.cursor)).known
    }

    @Test("The cursor of a line includes this line and all previous lines")
    func eachLineStandsForAllBeforeIt() throws {
        let other = PlugID(rawValue: "ffffffffffff")!
        var lines = WatchLines(after: WatchCursor(start: moment, known: [other: 3]), tellsCursor: true)
        #expect(try known(lines.records(of: report(.connected(description))).first) == [other: 3])
        #expect(lines.records(of: report(.following(after: 7))) == [])
        #expect(try known(lines.records(of: report(.snapshot(state()))).first) == [other: 3, lamp: 7])
        #expect(try known(lines.records(of: report(press(8))).first) == [other: 3, lamp: 8])
        #expect(
            try known(lines.records(of: report(.gap(Gap(from: 9, to: 99, reason: .powerLost)))).first)
                == [other: 3, lamp: 99])
        let end = PlugUpdate.disconnected(reason: .away("why"), retryIn: .zero)
        #expect(try known(lines.records(of: report(end)).first) == [other: 3, lamp: 99])
        #expect(lines.cursor.known == [other: 3, lamp: 99])
    }

    @Test("Lines with readings or levels have no cursor") func readingsAndLevelsHaveNone() {
        var lines = WatchLines(after: WatchCursor(start: moment), tellsCursor: true)
        for update in [PlugUpdate.connected(description), .following(after: 7), .snapshot(state())] {
            _ = lines.records(of: report(update))
        }
        let told = lines.records(of: report(.state(state(level: 40, watts: 3, time: 6))))
        #expect(told.map(\.event) == ["level", "reading"])
        #expect(told.map(\.cursor) == [nil, nil])
        // An unchanged state has no second line.
        #expect(lines.records(of: report(.state(state(level: 40, watts: 3, time: 6)))) == [])
    }

    @Test("Lines of the text output have no cursor") func withoutJSONThereIsNone() {
        var lines = WatchLines(after: WatchCursor(start: moment), tellsCursor: false)
        #expect(lines.records(of: report(.connected(description))).map(\.cursor) == [nil])
        _ = lines.records(of: report(press(8)))
        #expect(lines.cursor.known == [lamp: 8])
    }

    @Test("For a plug that the cursor does not contain, only events after the cursor's start time are shown")
    func ofAnUnknownPlugOnlyWhatHappenedSinceTheBeginningIsTold() throws {
        var lines = WatchLines(after: WatchCursor(start: moment), tellsCursor: true)
        _ = lines.records(of: report(.connected(description)))
        func tell(_ update: PlugUpdate, at time: WallTime) -> [WatchRecord] {
            lines.records(of: PlugReport(plug: "Lamp", at: time, update: update))
        }
        #expect(tell(.gap(Gap(from: 1, to: 2, reason: .overwritten)), at: late) == [])
        #expect(tell(press(3), at: early) == [])
        #expect(lines.cursor.known == [:], "a watch that resumes from this cursor skips older events too")
        let end = PlugUpdate.disconnected(reason: .away("why"), retryIn: .zero)
        #expect(tell(end, at: late).count == 1)
        #expect(tell(.connected(description), at: late).count == 1)
        #expect(tell(press(4), at: early) == [])
        let told = tell(press(5), at: late)
        #expect(told.map(\.seq) == [5])
        #expect(try known(told.first) == [lamp: 5])
        #expect(tell(press(6), at: early).count == 1, "after the first shown event, the time is ignored")
    }

    @Test("A gap of a plug that the cursor does not contain is shown with the next event of the plug")
    func aGapOfAnUnknownPlugIsToldWithTheEventAfterIt() throws {
        var lines = WatchLines(after: WatchCursor(start: moment), tellsCursor: true)
        _ = lines.records(of: report(.connected(description)))
        #expect(lines.records(of: report(.gap(Gap(from: 1, to: 99, reason: .powerLost)))) == [])
        let told = lines.records(of: PlugReport(plug: "Lamp", at: late, update: press(100)))
        #expect(told.map(\.event) == ["gap", "button"])
        #expect(try told.map { try known($0) } == [[lamp: 99], [lamp: 100]])
    }

    @Test("An event of unknown age is shown only for a plug in the cursor")
    func anEventOfAnAgeThatNobodyKnowsIsNewsOfAPlugThatIsKnown() {
        let restarted = PlugUpdate.event(event(.restarted(powerLost: false), 4), age: .seconds(1))
        for (known, told) in [([:], 0), ([lamp: 2], 1)] as [([PlugID: SequenceNumber], Int)] {
            var lines = WatchLines(after: WatchCursor(start: moment, known: known), tellsCursor: true)
            _ = lines.records(of: report(.connected(description)))
            // The event arrives now, but may have happened at any time.
            let update = PlugUpdate.event(event(.buttonPressed(.single), 3), age: nil)
            #expect(lines.records(of: PlugReport(plug: "Lamp", at: late, update: update)).count == told)
            #expect(lines.records(of: PlugReport(plug: "Lamp", at: late, update: restarted)).map(\.seq) == [4])
        }
    }

    @Test("After a plug got a new name, the cursor contains it only once, by its id")
    func aPlugThatTakesANameHasItsOwnNumbers() {
        let other = PlugID(rawValue: "ffffffffffff")!
        var lines = WatchLines(after: WatchCursor(start: moment, known: [other: 3]), tellsCursor: true)
        for update in [PlugUpdate.connected(description), .following(after: 7)] {
            _ = lines.records(of: report(update))
            _ = lines.records(of: report(update, of: "Reading Lamp"))
        }
        _ = lines.records(of: report(press(8), of: "Reading Lamp"))
        #expect(lines.cursor.known == [other: 3, lamp: 8])
    }
}
