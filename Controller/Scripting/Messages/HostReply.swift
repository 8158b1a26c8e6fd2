import JSONText
import RuleFiles
import RuleModel

/// A parsed reply of a script host, before it is compared with the request.
enum HostReply: Sendable {
    case loaded([ScriptRules.Declaration], log: [String])
    case done(Answer)
    case failed(String, log: [String])

    struct Timer: Sendable {
        var name: String
        /// Seconds until the timer ends; nil stops the timer.
        var after: Double?
    }

    struct Answer: Sendable {
        var then: [JSONValue] = []
        var timers: [Timer] = []
        var state: String?
        var log: [String] = []
    }

    /// - Parameter line: the reply without its line feed.
    /// - Throws: `JSONError` if the line is not a valid reply.
    init(line: [UInt8]) throws(JSONError) {
        // JSON allows a line feed between tokens, but a state with a line feed would become two lines when it is sent
        // again.
        guard !line.contains(UInt8(ascii: "\n")) else { throw JSONError("several lines") }
        self = try JSONReader.read(line) { reader throws(JSONError) in
            var reply: HostReply?
            try reader.object { key, reader throws(JSONError) in
                guard reply == nil else { throw reader.fault("more than one answer") }
                switch key {
                case "loaded": reply = try Self.loaded(&reader)
                case "done": reply = .done(try Self.done(&reader))
                case "failed": reply = try Self.failed(&reader)
                case _: throw reader.fault("'\(key.prefix(40))' is not known")
                }
            }
            guard let reply else { throw reader.fault("no answer") }
            return reply
        }
    }

    // MARK: - Parts of replies

    private static func loaded(_ reader: inout JSONReader) throws(JSONError) -> HostReply {
        var declarations: [ScriptRules.Declaration] = []
        var log: [String] = []
        try reader.object { key, reader throws(JSONError) in
            switch key {
            case "rules":
                try reader.list { reader throws(JSONError) in
                    let declaration = try declaration(&reader)
                    // Keep one more than the limit, so that the error can name the line of the first excess function.
                    if declarations.count <= ScriptLimits.handlers { declarations.append(declaration) }
                }
            case "log": log = try Self.log(&reader)
            case _: throw reader.fault("'\(key.prefix(40))' is not known in 'loaded'")
            }
        }
        return .loaded(declarations, log: log)
    }

    private static func declaration(_ reader: inout JSONReader) throws(JSONError) -> ScriptRules.Declaration {
        var declaration = ScriptRules.Declaration(line: 0, entries: [])
        try reader.object { key, reader throws(JSONError) in
            if key == "line" {
                declaration.line = try reader.whole()
            } else {
                declaration.entries.append(JSONValue.Entry(key, try reader.value()))
            }
        }
        guard declaration.line >= 1 else { throw reader.fault("a rule without a line number") }
        return declaration
    }

    private static func done(_ reader: inout JSONReader) throws(JSONError) -> Answer {
        var answer = Answer()
        try reader.object { key, reader throws(JSONError) in
            switch key {
            case "then":
                try reader.list { reader throws(JSONError) in
                    let action = try reader.value()
                    if answer.then.count <= ScriptLimits.actions { answer.then.append(action) }
                }
            case "timers":
                try reader.list { reader throws(JSONError) in
                    let timer = try timer(&reader)
                    if answer.timers.count <= MessageLimits.timerChanges { answer.timers.append(timer) }
                }
            case "state":
                let state = try reader.raw()
                answer.state = state
            case "log": answer.log = try Self.log(&reader)
            case _: throw reader.fault("'\(key.prefix(40))' is not known in 'done'")
            }
        }
        return answer
    }

    private static func timer(_ reader: inout JSONReader) throws(JSONError) -> Timer {
        var timer = Timer(name: "", after: nil)
        try reader.object { key, reader throws(JSONError) in
            switch key {
            case "name": timer.name = try reader.text()
            case "after": timer.after = try reader.number()
            case _: throw reader.fault("'\(key.prefix(40))' is not known in a timer")
            }
        }
        return timer
    }

    private static func failed(_ reader: inout JSONReader) throws(JSONError) -> HostReply {
        var words = ""
        var log: [String] = []
        try reader.object { key, reader throws(JSONError) in
            switch key {
            case "error": words = clipped(try reader.text(), to: MessageLimits.words, lines: true)
            case "log": log = try Self.log(&reader)
            case _: throw reader.fault("'\(key.prefix(40))' is not known in 'failed'")
            }
        }
        guard words.contains(where: { !$0.isWhitespace }) else { throw reader.fault("a failure without a message") }
        return .failed(words, log: log)
    }

    private static func log(_ reader: inout JSONReader) throws(JSONError) -> [String] {
        var log: [String] = []
        try reader.list { reader throws(JSONError) in
            let line = try reader.text()
            if log.count < ScriptLimits.logLines { log.append(clipped(line, to: ScriptLimits.logLineSize)) }
        }
        return log
    }

    /// Truncates the text to at most `most` bytes, including an ellipsis, and makes it safe to print. Control
    /// characters become spaces, except tabs and, if `lines` is true, line feeds.
    private static func clipped(_ text: String, to most: Int, lines: Bool = false) -> String {
        var clipped = ""
        for scalar in text.unicodeScalars {
            guard clipped.utf8.count + 4 <= most else { return clipped + "…" }
            let isKept = scalar.properties.generalCategory != .control || scalar == "\t" || (lines && scalar == "\n")
            clipped.unicodeScalars.append(isKept ? scalar : " ")
        }
        return clipped
    }
}
