import RuleModel

/// The actions that command no plug: notify, run, web hook, wake.
enum EffectGrammar {
    static let effects: [Variant<RuleAction>] = [
        Variant(
            Key(
                "notify", text.map { RuleAction.notify(title: nil, text: $0) }.or(Shape.mapping(notification)),
                "Sends a notification. \(Placeholders.words) in the text are replaced.")
        ) { _, _, action in action },
        Variant(
            Key(
                "run", command.map { RuleAction.run($0, timeout: usualTimeout) }.or(Shape.mapping(program)),
                "Runs a program with its arguments, without a shell. The program gets the event as JSON on standard input."
            )
        ) { _, _, action in action },
        Variant(
            Key(
                "web hook",
                Shape.quantity(Quantities.url).map { RuleAction.webHook(WebHook(url: $0)) }.or(Shape.mapping(hook)),
                "Sends a request to a web server, with the event as JSON.")
        ) { _, _, action in action },
        Variant(
            Key(
                "wake", Shape.text(most: RuleFileLimits.nameBytes, "Media Server").map { RuleAction.wake($0) },
                "Wakes a machine of machines.toml by magic packets, and reports whether it answers.")
        ) { _, _, action in action },
    ]

    // MARK: - Notify

    private static let text = Placeholders.checked(
        Shape.text(most: RuleFileLimits.noteBytes, "The washing is done", "{plug}: {why}"))
    private static let title = Key(
        "title", Placeholders.checked(Shape.text(most: RuleFileLimits.titleBytes, "Laundry")),
        "The title of the notification. Default: the rule's name.")
    private static let words = Key("text", text, "The text, in which \(Placeholders.words) are replaced.")

    private static let notification = Mapping<RuleAction>(
        "notification", "'notify'", "A notification.", example: "{ title: Laundry, text: \"{plug} is done\" }",
        keys: [title.optional, words.needed]
    ) { reader, fields in
        let title = reader.value(title, fields)
        return reader.value(words, fields).map { .notify(title: title, text: $0) }
    }

    // MARK: - Run

    private static let usualTimeout = Duration.seconds(30)

    private static let argument = Shape.text(
        most: RuleFileLimits.argumentBytes, pattern: #"^[^\u0000]*$"#, isEmptyAllowed: true, "logger",
        "a line in the log")

    private static let commandForm = Form.either([
        .text(TextForm(pattern: #"^[^\s\u0000]+$"#, most: RuleFileLimits.argumentBytes, examples: ["sync"])),
        .list(argument.form, of: "words of a command", count: 1...RuleFileLimits.entries),
    ])

    /// A single word is a program without arguments.
    private static let command = Shape<[String]>(commandForm) { reader, tree, key in
        let words = argument.oneOrMore(
            of: "words of a command", tooManyHint: "put them into a script file and run that"
        ).read(&reader, tree, key)
        guard let program = words?.first else { return nil }
        if case .scalar = tree.value, program.contains(where: \.isWhitespace) {
            let list = program.split(whereSeparator: \.isWhitespace).prefix(8).joined(separator: ", ")
            reader.report(
                tree.place, "commands run without a shell, so '\(program.prefix(80))' would be the name of the program",
                hint: "write it as a list: [\(list.prefix(80))]")
            return nil
        }
        guard !program.isEmpty, words?.contains(where: { $0.unicodeScalars.contains("\0") }) != true else {
            reader.report(
                tree.place,
                program.isEmpty
                    ? "the program is missing" : "a program and its arguments must not contain the character U+0000",
                hint: "write [program, argument]")
            return nil
        }
        return words
    }

    private static let commandKey = Key("command", command, "The program with its arguments.")
    private static let timeout = Key(
        "timeout", Shape.quantity(Times.commandTimeout), "The program is killed after this time. Default: 30 s.")

    private static let program = Mapping<RuleAction>(
        "program", "'run'", "A program with its arguments.", example: "{ command: [logger, done], timeout: 10 s }",
        keys: [commandKey.needed, timeout.optional]
    ) { reader, fields in
        let timeout = reader.value(timeout, fields) ?? usualTimeout
        return reader.value(commandKey, fields).map { .run($0, timeout: timeout) }
    }

    // MARK: - Web hook

    private static let url = Key("url", Shape.quantity(Quantities.url), "http:// or https://")
    private static let method = Key("method", Words.methods, "The HTTP method. Default: POST.")
    private static let body = Key(
        "body", Shape.text(most: RuleFileLimits.bodyBytes, "{\"text\": \"{why}\"}"),
        "The request body, in which \(Placeholders.words) are replaced. Default: the event as JSON.")

    private static let hook = Mapping<RuleAction>(
        "webHook", "'web hook'", "A request to a web server.",
        example: "{ url: \"https://house.example/hook\", method: PUT }",
        keys: [url.needed, method.optional, body.optional]
    ) { reader, fields in
        let method = reader.value(method, fields) ?? "POST"
        let body = reader.value(body, fields)
        return reader.value(url, fields).map { .webHook(WebHook(url: $0, method: method, body: body)) }
    }
}
