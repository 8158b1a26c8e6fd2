import Automation

/// A program that a rule runs: with the event on its standard input, and the end of what it says kept for whoever asks why it
/// failed. It is the leader of a session of its own, and whatever is left of its process group ends with it, or with its time.
struct Command: Sendable {
    /// How it went, for whoever may try it again.
    struct Ending: Sendable {
        let outcome: EffectOutcome
        /// Of a program that ended by itself.
        var status: CInt?
        /// It cannot be started, nor could it in a moment.
        var isMissing = false
    }

    private let words: [String]
    private let timeout: Duration
    private let input: [UInt8]
    private let environment: [String]
    private let place: FilePlace?
    private let fence: KeyFence?

    /// - Parameters:
    ///   - place: where the program is, if that is not to be looked for.
    ///   - input: what it reads, where that is not the event.
    ///   - environment: what it gets besides, as `NAME=VALUE`.
    init(
        _ words: [String], at place: FilePlace? = nil, timeout: Duration, event: EffectEvent, input: [UInt8]? = nil,
        environment: [String] = [], fence: KeyFence? = nil
    ) {
        self.words = words
        self.place = place
        self.fence = fence
        self.timeout = timeout
        self.input = input ?? event.json
        self.environment = Self.environment(of: event) + environment
    }

    func run() async -> EffectOutcome { await ending().outcome }

    /// Nobody's thread waits for it but one of its own.
    func ending() async -> Ending {
        await OwnThread.result { supervise($0) } ?? Ending(outcome: .failed("no thread or no file is left for it"))
    }

    private func supervise(_ interruption: Wake) -> Ending {
        let program = words.first ?? ""
        let process: ChildProcess
        do throws(ChildProcess.StartFault) {
            process = try ChildProcess(words, at: place, input: input, environment: environment, fence: fence)
        } catch {
            let outcome = EffectOutcome.failed("\(program) cannot be started: \(error.words)")
            return Ending(outcome: outcome, isMissing: error.isLasting)
        }
        switch process.supervise(within: timeout, until: interruption) {
        case .exited(0): return Ending(outcome: .done, status: 0)
        case .exited(let status):
            let words = "\(program) ended with status \(status)" + process.lastWords
            return Ending(outcome: .failed(words), status: status)
        case .signalled(let signal):
            return Ending(outcome: .failed("\(program) was ended by signal \(signal)" + process.lastWords))
        case .timedOut:
            let words = "\(program) took longer than \(timeout.inWords) and was ended" + process.lastWords
            return Ending(outcome: .failed(words))
        case .interrupted: return Ending(outcome: .givenUp)
        case .unknown(let code):
            let words = "how \(program) ended is not known: \(ChildProcess.StartFault(code: code).words)"
            return Ending(outcome: .failed(words))
        }
    }
}

extension Duration {
    /// `30 s`, `1.5 s`
    fileprivate var inWords: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(Double(milliseconds) / 1000) s"
    }
}
