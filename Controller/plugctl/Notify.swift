import ArgumentParser
import Automation
import Effects
import LinuxSystem
import PlugModel

struct Notify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify",
        abstract: "Send a notification to all configured receivers, and print each result.",
        discussion: """
            The receivers are configured in ~/.config/smartplug/notifications.toml or /etc/smartplug/notifications.toml:

              [desk]
              kind = "desktop"

              [phone]
              kind = "ntfy"
              topic = "our-house-7f3a"

              [letters]
              kind = "mail"
              to = "you@example.org"

              [lamp]
              kind = "command"
              command = "/usr/local/bin/blink"

            Each receiver is tried once. The daemon retries unreachable receivers for ten minutes, and reads the file when it starts. \
            Exit status: 0 if all receivers succeeded, 1 if none did, 2 if some did.

            Examples:
              plugctl notify "The laundry is done"
              plugctl notify "Is this loud enough?" --title Test --json
            """)

    @Argument(help: "The text of the notification.")
    var text: String
    @Option(parsing: .unconditional, help: "The title of the notification.")
    var title = "Test"
    @Flag(help: "One JSON object per receiver: receiver, kind, outcome (done, failed), why, hint.")
    var json = false

    func run() async throws {
        var done = 0
        var count = 0
        try await saying {
            guard let receivers = try NotificationFile.read()?.receivers, !receivers.isEmpty else {
                throw CLIError(
                    "no receivers are configured\nhint: configure them in \(NotificationFile.places[0]); see plugctl help notify"
                )
            }
            count = receivers.count
            let notification = RuleNotification(title: title, text: text, event: event)
            await withTaskGroup(of: ReceiverAnswer.self) { group in
                for receiver in receivers { group.addTask { await ReceiverAnswer(receiver, notification) } }
                for await record in group {
                    if record.outcome == .done { done += 1 }
                    tell(record)
                }
            }
        }
        guard done == count else { throw done == 0 ? ExitCode.failure : ExitCode(2) }
    }

    /// The event for the notification, as if the user ran a rule "plugctl notify" manually.
    private var event: EffectEvent {
        var random = SystemRandomNumberGenerator()
        let id = RequestID(drawnFrom: &random)
        let firing = Firing(id: id, rule: "plugctl notify", cause: Firing.Cause(.person), time: BootClock.now)
        return EffectEvent(EffectRequest(id: id, effect: .notify(title: title, text: text), firing: firing))
    }

    private func tell(_ record: ReceiverAnswer) {
        guard !json else {
            Output.json(record)
            return
        }
        if let why = record.why {
            printError("\(record.receiver): \(why)" + (record.hint.map { "\nhint: \($0)" } ?? ""))
        } else {
            Output.safeLine("\(record.receiver): done")
        }
    }
}

/// The answer of one receiver, for `--json`.
private struct ReceiverAnswer: Encodable, Sendable {
    enum Outcome: String, Encodable {
        case done, failed
    }

    var receiver: String
    var kind: String?
    var outcome = Outcome.done
    var why: String?
    var hint: String?

    init(_ named: NamedReceiver, _ notification: RuleNotification) async {
        receiver = named.name
        kind = named.kind?.rawValue
        do throws(NotificationFault) {
            try await named.receiver.receive(notification)
        } catch {
            outcome = .failed
            why = error.words
            hint = error.hint
        }
    }
}
