internal import Glibc
import LinuxClocks

/// Mail, through whatever program of this machine sends it.
struct MailReceiver: NotificationReceiver, Hashable {
    static let usualProgram = "/usr/sbin/sendmail"
    /// A program that gives a mail to a server itself waits for that server.
    private static let timeout = Duration.seconds(60)
    /// Of sysexits.h: another attempt ends the same way. A host whose name is unknown is none of them: the network may be down.
    private static let lasting: Set<CInt> = [EX_USAGE, EX_DATAERR, EX_NOUSER, EX_NOPERM, EX_CONFIG]

    var program = usualProgram
    var from: String?
    var to: [String]

    func receive(_ notification: RuleNotification) async throws(NotificationFault) {
        let now = WallTime.now
        let message = MailMessage(from: from, to: to, notification: notification, date: now, offset: now.localOffset)
        // -t: to whom stands in the head. -i: a line of a single point ends nothing.
        let command = Command(
            [program, "-t", "-i"], timeout: Self.timeout, event: notification.event, input: message.bytes)
        let ending = await command.ending()
        guard ending.outcome != .done else { return }
        let isLasting = ending.isMissing || ending.status.map(Self.lasting.contains) ?? false
        throw NotificationFault(
            ending.outcome,
            hint: ending.isMissing ? "apt install msmtp-mta, or sendmail = \"...\" says where it is" : nil,
            isWorthAnotherTry: !isLasting && !Task.isCancelled)
    }
}
