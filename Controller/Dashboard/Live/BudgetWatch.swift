import Automation
import HouseCalendar
import LinuxSystem
import PlugModel
import Presentation

/// Requests checks of the budget.
struct BudgetWatch: Sendable {
    /// The time between checks. A check reads a month of the history.
    static let interval = Duration.seconds(300)
    /// The name in notifications, which have no rule: the command that sets the budget.
    static let author = "plugctl budget"

    /// The requested checks. Requests during a check cause one further check.
    let requests: AsyncStream<Void>
    private let request: AsyncStream<Void>.Continuation

    init() { (requests, request) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func checkSoon() { request.yield() }
}

extension Dashboard {
    /// Compares the month with the budget at the start, regularly, and after each change of the budget or the tariff,
    /// until the task is cancelled.
    func watchBudget(_ tell: @escaping @Sendable (Notice) -> Void) async {
        let file = JSONFile(settings.directory + "/budget.json", empty: BudgetNotices())
        await withTaskGroup(of: Void.self) { group in
            var reported: String?
            group.addTask {
                repeat { budgetWatch.checkSoon() } while (try? await Task.sleep(for: BudgetWatch.interval)) != nil
            }
            for await _ in budgetWatch.requests {
                let fault = await checkBudget(file)
                if let fault, fault != reported { tell(.complaint("the budget is not checked: \(fault)")) }
                reported = fault
            }
            group.cancelAll()
        }
    }

    /// Notifies the owner if the budget has reached a new threshold. The threshold is stored before the notification is
    /// sent, so a notification is not repeated after a crash.
    ///
    /// - Returns: the reason why the check failed; nil if it did not.
    private func checkBudget(_ file: JSONFile<BudgetNotices>) async -> String? {
        do {
            guard let budget = try await HistoryThreads.run({ [store = settings.budget] in try store.read() }),
                let use = try await use(of: budget),
                let threshold = try await HistoryThreads.run({ try file.change { $0.handle(use) } })
            else { return nil }
            if await !house.notify(EffectRequest(threshold, use)) {
                // A new task, because work in a cancelled task does not begin.
                try await Task {
                    try await HistoryThreads.run { try file.change { $0.withdraw(threshold) } }
                }.value
            }
            return nil
        } catch let fault as Fault {
            return fault.record.error
        } catch {
            return Task.isCancelled ? nil : "\(error)"
        }
    }
}

extension EffectRequest {
    /// The notification of a threshold.
    fileprivate init(_ threshold: BudgetNotices.Threshold, _ use: BudgetUse) {
        var random = SystemRandomNumberGenerator()
        let id = RequestID(drawnFrom: &random)
        let cause = Firing.Cause(.told("the budget is \(use.budget.words)"))
        self.init(
            id: id, effect: .notify(title: threshold.title(use), text: use.words),
            firing: Firing(id: id, rule: BudgetWatch.author, cause: cause, time: BootClock.now))
    }
}
