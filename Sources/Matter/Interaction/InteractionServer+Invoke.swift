internal import MatterSessions
internal import MatterWire
internal import ProtocolCore

/// An invoke request whose commands the plug has not answered completely.
struct PendingInvoke: Sendable {
    struct Command: Sendable {
        var path: ConcretePath
        var reference: UInt16?
        var reply: CommandReply
    }

    var commands: [Command] = []
    var suppressesResponse: Bool

    /// True if all commands are answered.
    var isComplete: Bool { !commands.contains { if case .pending = $0.reply { true } else { false } } }

    /// Returns true if the command with this number is unanswered.
    func awaits(_ ticket: UInt64) -> Bool { commands.contains { $0.reply == .pending(ticket) } }

    /// Stores the answer to a command.
    mutating func resolve(_ ticket: UInt64, _ reply: CommandReply) {
        for index in commands.indices where commands[index].reply == .pending(ticket) {
            commands[index].reply = reply
        }
    }

    /// This request, with a status for each unanswered command.
    var timedOut: PendingInvoke {
        var result = self
        for index in commands.indices {
            if case .pending = commands[index].reply {
                result.commands[index].reply = .status(InteractionStatus(.timeout))
            }
        }
        return result
    }
}

extension InteractionServer {
    // MARK: Invoke (Matter 8.8)

    mutating func invoke(_ request: InvokeRequest, on exchange: ExchangeID, from accessor: Accessor, now: Instant) {
        guard request.isTimed == accessor.isTimed else { return finish(exchange, .timedRequestMismatch) }
        guard isValid(request) else { return finish(exchange, .invalidAction) }
        var progress = PendingInvoke(suppressesResponse: request.suppressesResponse)
        for command in request.commands {
            for path in targets(of: command.path, for: accessor) {
                let reply = perform(path, command.fields, for: accessor, now: now)
                progress.commands.append(.init(path: path, reference: command.reference, reply: reply))
            }
        }
        guard !progress.isComplete else { return answer(progress, on: exchange) }
        transactions[exchange] = Transaction(
            accessor: accessor, step: .invoking(progress), deadline: now + Self.plugTime)
    }

    /// A request has at least one command. More than one must be permitted, and have different concrete paths and
    /// references (Matter 8.8.2.3).
    private func isValid(_ request: InvokeRequest) -> Bool {
        let commands = request.commands
        guard (1...max(1, commandLimit)).contains(commands.count) else { return false }
        guard commands.count > 1 else { return true }
        return commands.allSatisfy { $0.path.endpoint != nil && $0.reference != nil }
            && Set(commands.map(\.path)).count == commands.count
            && Set(commands.map(\.reference)).count == commands.count
    }

    /// Returns the paths that a command selects. A wildcard selects the endpoints on which the accessor may invoke the
    /// command.
    private func targets(of path: CommandPath, for accessor: Accessor) -> [ConcretePath] {
        if let endpoint = path.endpoint { return [ConcretePath(endpoint, path.cluster, path.command)] }
        return targets(of: path, among: node.endpoints, for: accessor)
    }

    private func targets(of path: CommandPath, among endpoints: [UInt16], for accessor: Accessor) -> [ConcretePath] {
        endpoints.map { ConcretePath($0, path.cluster, path.command) }
            .filter { (try? check(command: $0, for: accessor)) != nil }
    }

    private mutating func perform(
        _ path: ConcretePath, _ fields: TLVValue, for accessor: Accessor, now: Instant
    ) -> CommandReply {
        do throws(InteractionStatus) {
            try check(command: path, for: accessor)
        } catch {
            return .status(error)
        }
        return node.invoke(path, fields, for: accessor, now: now)
    }

    /// Checks path, privilege, timed interaction and accessing fabric (Matter 8.8.3.2).
    private func check(command path: ConcretePath, for accessor: Accessor) throws(InteractionStatus) {
        let (definition, granted) = try cluster(of: path, for: accessor)
        guard let command = definition.command(path.member) else { throw InteractionStatus(.unsupportedCommand) }
        guard granted >= command.privilege else { throw InteractionStatus(.unsupportedAccess) }
        guard accessor.isTimed || !command.needsTimed else { throw InteractionStatus(.needsTimedInteraction) }
        guard accessor.fabric != nil || !command.isFabricScoped else { throw InteractionStatus(.unsupportedAccess) }
    }

    /// Handles the answer to a command. A late answer is ignored.
    mutating func answered(_ ticket: UInt64, _ reply: CommandReply) {
        for (exchange, transaction) in transactions {
            guard case .invoking(var progress) = transaction.step, progress.awaits(ticket) else { continue }
            progress.resolve(ticket, reply)
            guard !progress.isComplete else { return answer(progress, on: exchange) }
            transactions[exchange]?.step = .invoking(progress)
            return
        }
    }

    /// Performs the commands or writes of a message to a group (Matter 8.2.3) on each endpoint of the group that has the
    /// path and permits the group to use it. Nothing is answered.
    mutating func receive(_ message: GroupMessage, now: Instant) {
        let accessor = Accessor(message.sender)
        let endpoints = node.endpoints(in: message.sender)
        // A group selects the endpoints, so a path that names one is not valid.
        switch try? InteractionMessage(opcode: message.opcode, payload: message.payload) {
        case .invoke(let invoke) where !invoke.isTimed && isValid(invoke):
            for command in invoke.commands where command.path.endpoint == nil {
                for path in targets(of: command.path, among: endpoints, for: accessor) {
                    _ = node.invoke(path, command.fields, for: accessor, now: now)
                }
            }
        case .write(let write) where !write.isTimed && !write.hasMore:
            var progress = PendingWrite(isTimed: false)
            for data in write.writes where data.path.endpoint == nil {
                perform(data, &progress, among: endpoints, for: accessor, now: now)
            }
        default: break
        }
    }

    /// Sends the responses, or nothing if the peer suppressed them or no command was selected.
    mutating func answer(_ progress: PendingInvoke, on exchange: ExchangeID) {
        guard !progress.suppressesResponse, !progress.commands.isEmpty else { return close(exchange) }
        var responses: [InvokeReply] = []
        var free = messageLimit - InteractionMessage.invoked(InvokeResponse(responses: [])).encodedCount
        for command in progress.commands {
            var response = reply(command)
            if response.encodedCount > free { response = refusal(of: response) }
            responses.append(response)
            free -= response.encodedCount
        }
        send(.invoked(InvokeResponse(responses: responses)), on: exchange, isLast: true)
    }

    private func reply(_ command: PendingInvoke.Command) -> InvokeReply {
        let path = command.path
        func commandPath(_ id: UInt32) -> CommandPath {
            CommandPath(endpoint: path.endpoint, cluster: path.cluster, command: id)
        }
        return switch command.reply {
        case .response(let id, let fields): .command(commandPath(id), fields, reference: command.reference)
        case .status(let status): .status(commandPath(path.member), status, reference: command.reference)
        case .pending:
            .status(commandPath(path.member), InteractionStatus(.timeout), reference: command.reference)
        }
    }

    /// Replaces a response that does not fit in the message by a status.
    private func refusal(of reply: InvokeReply) -> InvokeReply {
        switch reply {
        case .command(let path, _, let reference):
            .status(path, InteractionStatus(.resourceExhausted), reference: reference)
        case .status: reply
        }
    }
}
