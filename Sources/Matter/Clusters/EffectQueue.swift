import MatterWire

/// The effects that a node requests, and the replies that wait for an answer of the plug.
struct EffectQueue: Sendable {
    /// The limit of commands that wait for the plug. It protects the memory if the plug does not answer.
    static let commandLimit = 32

    private var effects: [NodeEffect] = []
    private var needsStore = false
    private var replies: [UInt64: CommandReply] = [:]
    private var lastTicket: UInt64 = 0

    mutating func add(_ effect: NodeEffect) { effects.append(effect) }

    /// Requests that the records are stored after the effects that are queued before ``take(_:)``.
    mutating func store() { needsStore = true }

    /// Asks the plug to perform a command, and returns the reply that announces the answer.
    ///
    /// - Parameter reply: the reply if the plug performs the command.
    /// - Throws: `busy` if too many commands wait.
    mutating func ask(
        _ command: NodeCommand, from origin: String?, then reply: CommandReply = .status(.success)
    ) throws(InteractionStatus) -> CommandReply {
        guard replies.count < Self.commandLimit else { throw InteractionStatus(.busy) }
        lastTicket &+= 1
        replies[lastTicket] = reply
        effects.append(.ask(lastTicket, command, from: origin))
        return .pending(lastTicket)
    }

    /// Returns the reply to a command. An unknown ticket gives the plug's code.
    mutating func answered(_ ticket: UInt64, _ code: InteractionStatusCode) -> CommandReply {
        let reply = replies.removeValue(forKey: ticket)
        guard code == .success, let reply else { return .status(InteractionStatus(code)) }
        return reply
    }

    /// Returns and removes the effects.
    ///
    /// - Parameter records: the records to store.
    mutating func take(_ records: MatterRecords) -> [NodeEffect] {
        if needsStore { effects.append(.store(records)) }
        needsStore = false
        let taken = effects
        effects = []
        return taken
    }
}
