import HTTPTypes
import Hummingbird
import PlugModel
import PowerHistory
import Presentation
import RuleEditing

extension Dashboard {
    static let ruleFileRoutes = [
        APIRoute(.get, "/api/v1/rule-files") { dashboard, request, _ in
            _ = try QueryParameters(request)
            return try await dashboard.editing { editor, snapshot, _ in
                let files = editor.files(snapshot).map { RuleFileRecord($0, mayEdit: editor.mayEdit) }
                let list = RuleFileListRecord(editing: editor.mayEdit, directory: editor.newFiles, files: files)
                return Response(json: jsonLine(list))
            }
        },
        APIRoute(.post, "/api/v1/rule-files") { dashboard, request, _ in
            _ = try QueryParameters(request)
            let body = try await NewRuleFileBody.read(from: request)
            return try await dashboard.editing { editor, snapshot, context in
                let content = try editor.create(body.file, body.text, in: context(), snapshot)
                return Response(json: jsonLine(RuleFileTextRecord(content, mayEdit: true)), status: .created)
            }
        },
        APIRoute(.get, "/api/v1/rule-files/{file}") { dashboard, request, context in
            _ = try QueryParameters(request)
            let name = try fileName(context)
            return try await dashboard.editing { editor, snapshot, _ in
                let content = try editor.read(name, snapshot)
                return Response(json: jsonLine(RuleFileTextRecord(content, mayEdit: editor.mayEdit)))
            }
        },
        APIRoute(.post, "/api/v1/rule-files/{file}") { dashboard, request, context in
            _ = try QueryParameters(request)
            let (name, body) = (try fileName(context), try await RuleTextBody.read(from: request))
            return try await dashboard.editing { editor, snapshot, context in
                let content = try editor.write(
                    body.text, to: name, replacing: body.version, in: context(), snapshot)
                return Response(json: jsonLine(RuleFileTextRecord(content, mayEdit: true)))
            }
        },
        APIRoute(.delete, "/api/v1/rule-files/{file}") { dashboard, request, context in
            guard let version = try QueryParameters(request, once: ["version"]).text("version") else {
                throw Fault.malformed("\"version\" is missing", hint: "the version of the text that was read")
            }
            let name = try fileName(context)
            return try await dashboard.editing { editor, snapshot, _ in
                try editor.remove(name, version: version, snapshot)
                return Response(status: .noContent)
            }
        },
        APIRoute(.get, "/api/v1/rule-files/{file}/log") { dashboard, request, context in
            _ = try QueryParameters(request)
            let name = try fileName(context)
            let lines = await dashboard.board.board.rules.logs.lines(of: name)
            return try await dashboard.editing { editor, snapshot, _ in
                guard editor.files(snapshot).contains(where: { $0.name == name }) else {
                    throw RuleEditError.unknown(name)
                }
                return Response(json: jsonLine(lines))
            }
        },
        APIRoute(.post, "/api/v1/rule-checks") { dashboard, request, _ in
            _ = try QueryParameters(request)
            let body = try await NewRuleFileBody.read(from: request)
            return try await dashboard.editing { editor, snapshot, context in
                let found = try editor.check(body.text, as: body.file, in: context(), snapshot)
                return Response(json: jsonLine(RuleCheckRecord(found)))
            }
        },
        APIRoute(.post, "/api/v1/rule-backtests") { dashboard, request, context in
            _ = try QueryParameters(request)
            let body = try await BacktestBody.read(from: request)
            let days = try body.wholeDays()
            guard let editor = dashboard.ruleEditor else { throw noRuleFiles }
            guard let history = dashboard.history else {
                throw Fault.unavailable(
                    "the daemon records no history", hint: "see its log, or start it without --no-history")
            }
            return try await BacktestThread.run(for: context.channel) { isStopped in
                try answer {
                    var wasStopped = false
                    let report = try editor.backtest(body.text, over: days, in: history) {
                        wasStopped = isStopped()
                        return wasStopped
                    }
                    return Response(json: jsonLine(BacktestAnswerRecord(report, complete: !wasStopped)))
                }
            }
        },
    ]

    private static let noRuleFiles = Fault.unavailable("this process follows no rule files")

    private static func fileName(_ context: DashboardContext) throws(Fault) -> String {
        guard let name = context.parameters.get("file").flatMap({ String(percentEncoded: $0.utf8) }) else {
            throw .malformed("the file's name is not percent-encoded UTF-8")
        }
        return name
    }

    /// Runs work on the rule files. Its last argument returns the context of a check.
    private func editing(
        _ work:
            @escaping @Sendable (RuleEditor, RuleEditor.Snapshot, () -> RuleCheckContext) throws -> Response
    ) async throws -> Response {
        guard let editor = ruleEditor else { throw Self.noRuleFiles }
        await board.begin()
        let plugs = await board.board.records.map { record in
            (
                name: record.plug,
                capabilities: record.capabilities.map { Set($0.compactMap { Capability(rawValue: $0) }) }
            )
        }
        let snapshot = await editor.snapshot()
        return try await HistoryThreads.run { [history, machines = house.machines.machines.map(\.name)] in
            try Self.answer { try work(editor, snapshot) { editor.context(plugs, machines: machines, history) } }
        }
    }

    /// Converts the errors of the editor and of the history to answers.
    private static func answer(_ work: () throws -> Response) throws -> Response {
        do {
            return try work()
        } catch RuleEditError.faulty(let diagnostics) {
            let error = RuleEditError.faulty(diagnostics)
            let record = FaultyTextRecord(
                error: "\(error)", hint: error.hint, findings: RuleCheckRecord(diagnostics).findings)
            return Response(json: jsonLine(record), status: .unprocessableContent)
        } catch let error as RuleEditError {
            let status: HTTPResponse.Status =
                switch error {
                case .off: .forbidden
                case .unknown: .notFound
                case .ambiguous, .readOnly, .exists, .noDirectory, .changed: .conflict
                case .invalidName, .tooLarge, .faulty, .noLocation: .unprocessableContent
                case .file: .serviceUnavailable
                }
            throw Fault(status, error.description, hint: error.hint)
        } catch let error as HistoryError {
            throw Fault.unavailable("\(error)", hint: error.hint)
        }
    }
}

struct NewRuleFileBody: JSONBody {
    static let keys: Set = ["file", "text"]
    static let limit = DoorLimits().bodyOfOwners

    /// The name of the file, without its directory.
    var file: String
    /// The text, at most ``RuleEditor/textLimit`` bytes.
    var text: String
}

struct RuleTextBody: JSONBody {
    static let keys: Set = ["text", "version"]
    static let limit = DoorLimits().bodyOfOwners

    /// The new text, at most ``RuleEditor/textLimit`` bytes.
    var text: String
    /// The version of the text that the user has edited.
    var version: String
}

struct BacktestBody: JSONBody {
    static let keys: Set = ["text", "days"]
    static let limit = DoorLimits().bodyOfOwners
    /// A month of a house with eight plugs takes some seconds.
    private static let mostDays = 31

    /// The rules, at most ``RuleEditor/textLimit`` bytes.
    var text: String
    /// The number of days before now.
    var days: Double

    func wholeDays() throws(Fault) -> Int {
        guard let days = Int(exactly: days), (1...Self.mostDays).contains(days) else {
            throw .outOfRange("\"days\" is out of range", hint: "a whole number from 1 to \(Self.mostDays)")
        }
        return days
    }
}
