internal import Glibc
import LinuxSystem

/// Sends notifications as mail, by the system's sendmail program.
struct MailReceiver: NotificationReceiver, Hashable {
    static let usualProgram = "/usr/sbin/sendmail"
    /// The time limit of the program. A program that delivers the mail itself waits for the remote server.
    private static let timeout = Duration.seconds(60)
    /// Exit codes of sysexits.h for errors that remain at the next attempt. EX_NOHOST is not among them: the network
    /// may be down.
    private static let lasting: Set<CInt> = [EX_USAGE, EX_DATAERR, EX_NOUSER, EX_NOPERM, EX_CONFIG]

    var program = usualProgram
    var from: String?
    var to: [String]

    func receive(_ notification: RuleNotification) async throws(NotificationFault) {
        let now = WallTime.now
        let message = MailMessage(from: from, to: to, notification: notification, date: now, offset: now.localOffset)
        // -t: read the recipients from the header. -i: a line with a single dot does not end the mail.
        let command = Command(
            [program, "-t", "-i"], timeout: Self.timeout, event: notification.event, input: message.bytes)
        let ending = await command.ending()
        guard ending.outcome != .done else { return }
        let isPermanent = ending.isMissing || ending.status.map(Self.lasting.contains) ?? false
        throw NotificationFault(
            ending.outcome,
            hint: ending.isMissing ? "apt install msmtp-mta, or set sendmail = \"...\" to its path" : nil,
            isRetryable: !isPermanent && !Task.isCancelled)
    }
}
