/// Runs a program for each notification, with the event, the title and the text on its standard input. The limits of
/// `[outside]` and the Landlock sandbox of a rule's `run` do not apply.
struct CommandReceiver: NotificationReceiver, Hashable {
    static let usualTimeout = Duration.seconds(30)

    var words: [String]
    var timeout = usualTimeout

    func receive(_ notification: RuleNotification) async throws(NotificationFault) {
        var event = notification.event
        event.title = notification.title
        event.text = notification.text
        let ending = await Command(words, timeout: timeout, event: event).ending()
        guard ending.outcome != .done else { return }
        throw NotificationFault(
            ending.outcome, hint: ending.isMissing ? "set command = \"...\" to its full path" : nil,
            isRetryable: !ending.isMissing && !Task.isCancelled)
    }
}
