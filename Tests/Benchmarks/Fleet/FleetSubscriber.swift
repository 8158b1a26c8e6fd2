import Foundation
import LinuxSystem
import MQTT
import NIOCore
import NIOPosix
import PlugModel
import PlugTopics
import ProtocolCore

/// A subscriber that tracks each event of each plug by its number and requests missing events from the houses. After
/// each disconnection it connects to the next node.
actor FleetSubscriber {
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop

    private struct Followed {
        var topic: String
        /// The time of each event; event number n is at index n - 1.
        var happened: [Instant] = []
        /// The last number before the first gap.
        var last: SequenceNumber = 0
        /// Received numbers after the first gap.
        var ahead: Set<SequenceNumber> = []
        /// The time of the request that is not answered yet.
        var askedAt: Instant?

        func knows(_ number: SequenceNumber) -> Bool { number <= last || ahead.contains(number) }

        mutating func learn(_ number: SequenceNumber) {
            ahead.insert(number)
            while ahead.remove(last + 1) != nil { last += 1 }
        }
    }

    struct Account: Sendable {
        var twice = 0
        /// Messages with an unknown number, or with content that does not match their number.
        var wrong = 0
        /// Requests for missing events.
        var asked = 0
        var fromAnswers = 0
        var connections = 0
        /// The seconds from each event to its arrival. Events that came in answers are not included.
        var delays: [Double] = []
        /// The longest time between the arrivals of two consecutive events, in seconds. Events in answers are not
        /// included.
        var longestSilence = 0.0
    }

    private static let answers = "fleet/answers/subscriber"
    /// The limit of unanswered requests.
    private static let askedLimit = 64
    /// The time after which a request is repeated.
    private static let patience = Duration.seconds(5)

    private(set) var account = Account()
    private let servers: [BrokerServer]
    private let threads = NIOThreadPool(numberOfThreads: 1)
    private var connection: BrokerConnection?
    private var server = 0
    private var plugs: [String: Followed]
    /// The ids of plugs with missing events.
    private var incomplete: Set<String> = []
    private var heardAt: Instant?
    private var isEnding = false

    init(_ houses: SimulatedHouses, at addresses: [String], on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        executor = eventLoop.executor
        servers = addresses.map { BrokerServer(host: $0, port: EjabberdCluster.port) }
        plugs = Dictionary(
            uniqueKeysWithValues: houses.plugs.map { plug in
                (plug.id.rawValue, Followed(topic: "fleet/\(plug.house)/\(plug.id.rawValue)/"))
            })
        threads.start()
    }

    /// Returns the relay's state after an event. The state alternates, so that an event's content can be checked
    /// against its number.
    static func isOn(at sequence: SequenceNumber) -> Bool { sequence % 2 == 1 }

    func connect() {
        guard !isEnding else { return }
        var options = BrokerOptions(
            client: "subscriber", trust: .plain, willTopic: "fleet/subscriber", willText: "offline")
        options.user = EjabberdCluster.user
        options.password = EjabberdCluster.password
        connection = BrokerConnection(servers[server], options, on: eventLoop, thread: threads) { [weak self] event in
            self?.assumeIsolated { $0.heard(event) }
        }
    }

    func end() async {
        isEnding = true
        connection?.end()
        try? await threads.shutdownGracefully()
    }

    /// Records the time of an event that is about to occur, and returns its number.
    func expect(_ plug: PlugID) -> SequenceNumber {
        plugs[plug.rawValue]?.happened.append(BootClock.now)
        return SequenceNumber(plugs[plug.rawValue]?.happened.count ?? 0)
    }

    /// Requests all events that were not received. Call this method after the last event.
    func look() {
        for (plug, followed) in plugs where followed.last < followed.happened.count { incomplete.insert(plug) }
        askForMissing()
    }

    var missing: Int { plugs.values.reduce(0) { $0 + $1.happened.count - Int($1.last) - $1.ahead.count } }

    // MARK: Incoming messages

    private func heard(_ event: BrokerConnection.Event) {
        switch event {
        case .connected:
            account.connections += 1
            for plug in plugs.keys { plugs[plug]?.askedAt = nil }
            connection?.subscribe(["fleet/+/+/event", Self.answers])
        case .received(let message):
            if message.topic == Self.answers { return take(answer: message.payload) }
            let levels = message.topic.split(separator: "/")
            guard levels.count == 4, let told = try? JSONSerialization.jsonObject(with: Data(message.payload)) else {
                return
            }
            take(told, of: String(levels[2]), isAnswer: false)
        case .ended:
            connection = nil
            server = (server + 1) % servers.count
            eventLoop.scheduleTask(in: .milliseconds(200)) { [weak self] in self?.assumeIsolated { $0.connect() } }
        case .acknowledged, .subscribed, .notSubscribed: break
        }
    }

    private func take(answer payload: [UInt8]) {
        guard let answer = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any],
            let plug = answer["plug"] as? String
        else { return }
        plugs[plug]?.askedAt = nil
        for event in answer["events"] as? [Any] ?? [] { take(event, of: plug, isAnswer: true) }
        askForMissing()
    }

    private func take(_ told: Any, of plug: String, isAnswer: Bool) {
        let now = BootClock.now
        guard let told = told as? [String: Any], let number = (told["seq"] as? NSNumber)?.uint64Value,
            var followed = plugs[plug], number > 0, number <= followed.happened.count,
            (told["on"] as? Bool) == Self.isOn(at: number), told["plug"] as? String == plug
        else { return account.wrong += 1 }
        if !isAnswer {
            if let heardAt { account.longestSilence = max(account.longestSilence, (now - heardAt).inSeconds) }
            heardAt = now
        }
        guard !followed.knows(number) else {
            if !isAnswer { account.twice += 1 }
            return
        }
        if isAnswer {
            account.fromAnswers += 1
        } else {
            account.delays.append((now - followed.happened[Int(number) - 1]).inSeconds)
        }
        followed.learn(number)
        plugs[plug] = followed
        if followed.ahead.isEmpty {
            incomplete.remove(plug)
        } else {
            incomplete.insert(plug)
            askForMissing()
        }
    }

    /// Requests missing events from houses, within the limit of requests.
    func askForMissing() {
        let now = BootClock.now
        incomplete = incomplete.filter { plug in plugs[plug].map { Int($0.last) < $0.happened.count } ?? false }
        var waiting = incomplete.count { plug in (plugs[plug]?.askedAt).map { now - $0 < Self.patience } ?? false }
        for plug in incomplete where waiting < Self.askedLimit {
            guard let followed = plugs[plug], followed.askedAt.map({ now - $0 >= Self.patience }) ?? true else {
                continue
            }
            waiting += 1
            account.asked += 1
            plugs[plug]?.askedAt = now
            connection?.publish(
                0,
                Publication(
                    followed.topic + "replay", "{\"after\":\(followed.last)}", isRetained: false,
                    correlation: Array(plug.utf8), responseTopic: Self.answers))
        }
    }
}
