import PlugModel
import PlugTopics
import TestSupport
import Testing

@testable import Broker

@Suite struct BrokerJournalTests {
    private let lamp = PlugID(rawValue: "00000000000a")!
    private let fan = PlugID(rawValue: "00000000000b")!

    private func entry(_ position: UInt64, _ plug: PlugID, _ sequence: SequenceNumber) -> QueuedEvent {
        QueuedEvent(position: position, plug: plug, sequence: sequence, payload: "{\"seq\":\(sequence)}")
    }

    @Test("A reopened journal has its client id, cursors, states and unacknowledged events")
    func theNextProcessGoesOn() throws {
        let folder = TestFolder()
        let path = folder.path + "/broker.sqlite"
        var client = ""
        do {
            let journal = try BrokerJournal(path)
            client = journal.memory.client
            #expect(journal.memory.cursors.isEmpty && journal.memory.newest == 0)
            var change = BrokerJournal.Change()
            change.entries = [entry(1, lamp, 7), entry(2, fan, 3), entry(3, lamp, 8)]
            change.published = [lamp: true, fan: true]
            try journal.write(change)
            change = BrokerJournal.Change()
            change.acknowledged = 2
            change.published = [fan: false]
            try journal.write(change)
        }
        let journal = try BrokerJournal(path)
        #expect(journal.memory.client == client && !client.isEmpty)
        #expect(journal.memory.cursors == [lamp: 8, fan: 3])
        #expect(journal.memory.published == [lamp])
        #expect((journal.memory.acknowledged, journal.memory.newest) == (2, 3))
        #expect(try journal.entries(after: 2, limit: 9) == [entry(3, lamp, 8)])
        #expect(try journal.events(of: lamp, after: 7).messages == ["{\"seq\":8}"])
    }

    @Test("A full journal drops its oldest events") func theOldestGoWhereThereIsNoRoom() throws {
        let folder = TestFolder()
        let journal = try BrokerJournal(folder.path + "/broker.sqlite")
        var position: UInt64 = 0
        while position < BrokerJournal.limit + 2000 {
            var change = BrokerJournal.Change()
            change.entries = (1...1000).map { entry(position + $0, lamp, position + $0) }
            position += 1000
            try journal.write(change)
        }
        #expect(try journal.entries(after: 0, limit: 1).first?.position == 2001)
        let replay = try journal.events(of: lamp, after: position - 101)
        #expect(replay.messages.count == 100 && replay.hasMore)
    }
}
