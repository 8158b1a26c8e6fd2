import PlugBroker
import PlugModel
import PlugProtocol
import PlugTopics
import ProtocolCore

extension FuzzTarget {
    /// Sends messages of a broker to a house and to a plug with its own connection. House and plug both accept at least
    /// one message, or both accept none. Every answer is a JSON object below the answer topic.
    static let broker = FuzzTarget(
        name: "broker",
        seeds: {
            [
                "set|{\"on\":true}|1|smartplug/answers/a",
                "set|{\"level\":12.5,\"over\":3,\"until\":2000}|2|smartplug/answers/b",
                "set|OFF||", "replay|{\"after\":41}|3|smartplug/answers/c",
                "set|{\"identify\":true}\nset|{\"resetProtection\":true}",
                "set|{\"on\":true,\"autoOff\":60}|\u{1F4A1}|smartplug/answers/d",
                "replay|{\"after\":0}|3|smartplug/answers/c",
            ].map { Array($0.utf8) }
        },
        check: { bytes in
            guard let heard = HeardMessages(bytes) else { return false }
            let atHouse = try heard.atHouse()
            let atPlug = try heard.atPlug()
            try require(atHouse == atPlug, "plug and house disagree about a command")
            return atHouse
        })
}

/// Lines of `LEAF|PAYLOAD|CORRELATION|RESPONSE TOPIC`, as messages below a plug's topics.
private struct HeardMessages {
    private let tree: TopicTree
    private let plug: PlugID
    private let messages: [BrokerMessage]

    init?(_ bytes: [UInt8]) {
        guard let tree = try? TopicTree(prefix: "smartplug", house: "home"), let plug = PlugID(rawValue: "0123456789ab")
        else { return nil }
        (self.tree, self.plug) = (tree, plug)
        messages = bytes.split(separator: UInt8(ascii: "\n")).prefix(64).map { line in
            let parts = line.split(separator: UInt8(ascii: "|"), maxSplits: 3, omittingEmptySubsequences: false)
                .map(Array.init)
            func text(_ index: Int) -> String {
                parts.count > index ? String(decoding: parts[index], as: UTF8.self) : ""
            }
            return BrokerMessage(
                topic: "smartplug/home/\(plug)/" + text(0), payload: parts.count > 1 ? parts[1] : [],
                responseTopic: text(3).isEmpty ? nil : text(3), correlation: parts.count > 2 ? parts[2] : nil,
                at: 1000)
        }
    }

    private func checkAnswer(_ publication: Publication) throws(FuzzFailure) {
        guard !publication.isRetained else { return }
        try require(publication.topic.hasPrefix(tree.answers), "an answer goes to \(publication.topic)")
        try require(publication.payload.utf8.first == UInt8(ascii: "{"), "an answer is not an object")
    }

    /// Returns true if the house accepted any message.
    func atHouse() throws(FuzzFailure) -> Bool {
        var machine = BrokerMachine(
            BrokerMachine.Configuration(tree: tree, discovery: nil, updatesSystems: true), known: [plug], after: 0,
            newest: 0, seed: 1)
        var now = Instant.zero
        _ = machine.handle(.started, now: now)
        var actions = machine.handle(.connected, now: now)
        var understood = false
        for message in messages {
            actions += machine.handle(.received(message), now: now)
            now = now + .milliseconds(100)
        }
        while let action = actions.first {
            actions.removeFirst()
            switch action {
            case .publish(let ticket, let publication):
                actions += machine.handle(.acknowledged(ticket, refusal: nil), now: now)
                try checkAnswer(publication)
            case .command(let ticket, _, _, _, let time):
                understood = true
                try require(time > .zero && time <= .seconds(10), "a command is valid for \(time)")
                actions += machine.handle(.answered(ticket, .done(PlugState(relayOn: true), event: 1)), now: now)
            case .update(let ticket, _):
                understood = true
                actions += machine.handle(.updateAnswered(ticket, nil), now: now)
            case .replay(let ticket, _, _):
                understood = true
                actions += machine.handle(.replayed(ticket, ["{}"], hasMore: false), now: now)
            case .connect, .disconnect, .subscribe, .fetch, .keep, .remember, .forget, .tell: break
            }
        }
        return understood
    }

    /// Returns true if the plug accepted any message. The plug's own server performs the commands, and its journal has
    /// lost some events.
    func atPlug() throws(FuzzFailure) -> Bool {
        var server = FuzzedPlug.prepared.server
        var machine = PlugBrokerMachine(
            plug, BrokerMachine.Configuration(tree: tree, discovery: nil), after: 0, seed: 1)
        var now = FuzzedPlug.now
        let glance = PlugBrokerMachine.Glance(
            state: server.state, portrait: PlugPortrait(name: "Lamp", firmware: "1", capabilities: [.relay]), newest: 0)
        var actions = machine.handle(.started, now: now) + machine.handle(.looked(glance, wall: nil), now: now)
        actions += machine.handle(.connected, now: now)
        for message in messages {
            actions += machine.handle(.received(message), now: now)
            now = now + .milliseconds(100)
        }
        var (asked, answered) = (Set<UInt64>(), Set<UInt64>())
        var understood = false
        while let action = actions.first {
            actions.removeFirst()
            switch action {
            case .publish(let ticket, let publication):
                actions += machine.handle(.acknowledged(ticket, refusal: nil), now: now)
                try checkAnswer(publication)
            case .ask(let command):
                understood = true
                try require(asked.insert(command.ticket).inserted, "a command is requested twice")
                for (ticket, outcome) in try answers(to: command, of: &server, now) {
                    try require(answered.insert(ticket).inserted, "a command is answered twice")
                    actions += machine.handle(.answered(ticket, outcome), now: now)
                }
            case .read(let sequence, let limit):
                let page = server.journal.page(after: sequence, limit: limit)
                actions += machine.handle(.page(page, wall: nil), now: now)
            case .readFor(let ticket, let sequence, let limit):
                understood = true
                let page = server.journal.page(after: sequence, limit: limit)
                actions += machine.handle(.replay(ticket, page, wall: nil), now: now)
            case .connect, .disconnect, .subscribe, .keep, .tell: break
            }
        }
        try require(asked == answered, "some commands are not answered")
        return understood
    }

    private func answers(
        to command: DoorCommand, of server: inout PlugServer, _ now: Instant
    ) throws(FuzzFailure) -> [(UInt64, CommandOutcome)] {
        var answers: [(UInt64, CommandOutcome)] = []
        var due = server.handle(.shell(.asked(command)), now: now)
        while let action = due.first {
            due.removeFirst()
            switch action {
            case .shell(.answer(_, let ticket, let outcome)): answers.append((ticket, outcome))
            case .perform(let id, let controller, let command, _):
                try require(id.authority == .broker && controller == PlugDoor.broker.name, "sender: \(controller)")
                switch command {
                case .setRelay, .setLevel, .identify, .resetProtection: break
                case .rename, .configure: throw FuzzFailure("the broker changes settings")
                }
                due += server.handle(.commandOutcome(id, .done(server.state, event: nil)), now: now)
            case .shell, .fetch, .fetchAudit, .keep, .keepCode, .record, .factoryReset:
                break
            }
        }
        return answers
    }
}
