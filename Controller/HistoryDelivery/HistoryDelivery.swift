import LinuxSystem
public import PowerHistory
import ProtocolCore

/// Delivers the history of a house to its receivers, with one `DeliveryMachine` per receiver.
public struct HistoryDelivery: Sendable {
    /// The interval between two checks for changes that a database lacks.
    private static let databaseInterval = Duration.seconds(2)
    /// The time that an orderly stop waits for the current work of a database. A remote-write request ends at once.
    private static let patienceAtEnd = Duration.seconds(2)

    /// Receives the updates of the house if a receiver stores live states; nil otherwise.
    public let states: LiveStates?
    private let source: HistorySource
    private let thread = BlockingThread()
    private let outlets: [Outlet]
    private let complain: @Sendable (String) -> Void

    private struct Outlet: Sendable {
        let receiver: any HistoryReceiver
        let interval: Duration
        /// The name for messages to the user.
        let name: String
    }

    /// Creates the receivers of the settings.
    ///
    /// - Parameters:
    ///   - settings: the receivers.
    ///   - history: the recorder of the history.
    ///   - state: the directory for the daemon's persistent data.
    ///   - timeZone: the house's zone in the IANA database: `Europe/Berlin`.
    ///   - complain: called with messages for the user, with an optional `hint:` line.
    /// - Throws: errors of the file system, ``HouseIdentity/Damaged``, or `DeliveryFault` for an invalid address.
    public init(
        _ settings: HistorySettings, of history: PowerHistory, state: String, timeZone: String,
        complain: @escaping @Sendable (String) -> Void
    ) throws {
        source = HistorySource(history)
        self.complain = complain
        var outlets: [Outlet] = []
        var states: LiveStates?
        if let database = settings.database {
            let house = DatabaseReceiver.House(
                name: settings.house, identity: try HouseIdentity(in: state), labels: settings.labels,
                timeZone: timeZone)
            let heard = LiveStates()
            let receiver = DatabaseReceiver(database, house: house, samples: settings.samples, states: heard)
            outlets.append(
                Outlet(receiver: receiver, interval: Self.databaseInterval, name: "the database \(database.database)"))
            states = heard
        }
        if let remote = settings.remoteWrite {
            let receiver = try RemoteWriteReceiver(
                remote, house: settings.house, labels: settings.labels, file: state + "/remote-write",
                complain: complain)
            outlets.append(Outlet(receiver: receiver, interval: remote.interval, name: "remote write"))
        }
        (self.outlets, self.states) = (outlets, states)
    }

    /// Delivers until the task is cancelled.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            for outlet in outlets {
                group.addTask { await run(outlet) }
            }
        }
        await Task { await thread.end() }.value
    }

    private func run(_ outlet: Outlet) async {
        await withTaskCancellationHandler {
            await send(to: outlet)
        } onCancel: {
            // A separate task: in a cancelled task the sleep would end at once.
            Task {
                try? await Task.sleep(for: Self.patienceAtEnd)
                outlet.receiver.giveUp()
            }
        }
        await Task { await outlet.receiver.end() }.value
    }

    private func send(to outlet: Outlet) async {
        var machine = DeliveryMachine(interval: outlet.interval, seed: UInt64.random(in: 0...UInt64.max))
        var event = DeliveryMachine.Event.started
        var position: FeedPosition?
        while !Task.isCancelled {
            var work: DeliveryMachine.Action?
            for action in machine.handle(event, now: BootClock.now) {
                if case .tell(let notice) = action { tell(notice, of: outlet.name) } else { work = action }
            }
            if let work {
                event = await perform(work, &position, outlet.receiver)
            } else {
                let left = machine.nextDeadline.map { $0 - BootClock.now } ?? .seconds(3600)
                try? await Task.sleep(for: max(.zero, left))
                event = .deadlineReached
            }
        }
    }

    private func perform(
        _ action: DeliveryMachine.Action, _ position: inout FeedPosition?, _ receiver: any HistoryReceiver
    ) async -> DeliveryMachine.Event {
        do throws(DeliveryFault) {
            switch action {
            case .connect:
                let has = try await receiver.connect()
                let begins = try await thread.run { () throws(DeliveryFault) in try source.begin(after: has) }
                position = begins
                return .connected(after: begins.number)
            case .look(let number):
                guard let here = position, here.number == number,
                    let hasMore = try await thread.run({ () throws(DeliveryFault) in try source.hasMore(after: here) })
                else { throw DeliveryFault(reason: "the history was recreated") }
                try await receiver.idle(hasAll: !hasMore)
                return .looked(hasMore: hasMore)
            case .deliver(let number, let limit):
                guard let here = position else { throw DeliveryFault(reason: "the history was recreated") }
                let from = FeedPosition(epoch: here.epoch, number: number)
                let (through, isAll) = try await receiver.deliver(from: source, after: from, atMost: limit)
                position = FeedPosition(epoch: here.epoch, number: through)
                return .delivered(through: through, isAll: isAll)
            case .tell: preconditionFailure("a notice is not a task")
            }
        } catch {
            return .failed(error)
        }
    }

    private func tell(_ notice: DeliveryNotice, of name: String) {
        func words(_ fault: DeliveryFault) -> String { fault.reason + (fault.hint.map { "\nhint: \($0)" } ?? "") }
        switch notice {
        case .reached: complain("\(name) receives the history")
        case .caughtUp: complain("\(name) has the complete history")
        case .away(let fault):
            let hint = fault.hint ?? "no data is lost; missing data is sent when it is back"
            complain("\(name) is not available and does not receive the history: \(fault.reason)\nhint: \(hint)")
        case .refused(let fault): complain("\(name) rejects the history: \(words(fault))")
        }
    }
}
