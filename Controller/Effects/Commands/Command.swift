import Automation
import Processes

/// A program that a rule runs. It gets the event on its standard input, and the end of its output is kept to explain a
/// failure. The program leads a new session. When it ends, or at the timeout, the remaining processes of its process
/// group are killed.
struct Command: Sendable {
    /// The result of a program's run.
    struct Ending: Sendable {
        let outcome: EffectOutcome
        /// The exit status; nil if the program was killed or could not be started.
        var status: CInt?
        /// True if the program cannot be started, and a later attempt would fail too.
        var isMissing = false
    }

    private let words: [String]
    private let timeout: Duration
    private let input: [UInt8]
    private let environment: [String]
    private let place: ResolvedPath?
    private let fence: LandlockSandbox?

    /// - Parameters:
    ///   - place: the file of the program; nil to search for the program in PATH.
    ///   - input: its standard input; nil for the event.
    ///   - environment: additional variables, as `NAME=VALUE`.
    init(
        _ words: [String], at place: ResolvedPath? = nil, timeout: Duration, event: EffectEvent, input: [UInt8]? = nil,
        environment: [String] = [], fence: LandlockSandbox? = nil
    ) {
        self.words = words
        self.place = place
        self.fence = fence
        self.timeout = timeout
        self.input = input ?? event.json
        self.environment = Self.environment(of: event) + environment
    }

    func run() async -> EffectOutcome { await ending().outcome }

    /// Runs the program on a dedicated thread.
    func ending() async -> Ending {
        await DedicatedThread.result { supervise($0) }
            ?? Ending(outcome: .failed("no thread or file descriptor is available"))
    }

    private func supervise(_ interruption: PollWaker) -> Ending {
        let program = words.first ?? ""
        let process: ChildProcess
        do throws(ChildProcess.StartFault) {
            process = try ChildProcess(words, at: place, input: input, environment: environment, fence: fence)
        } catch {
            let outcome = EffectOutcome.failed("\(program) cannot be started: \(error.words)")
            return Ending(outcome: outcome, isMissing: error.isPermanent)
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
            let words = "the exit status of \(program) is not known: \(ChildProcess.StartFault(code: code).words)"
            return Ending(outcome: .failed(words))
        }
    }
}

extension Duration {
    /// The duration as in `30 s` or `1.5 s`.
    fileprivate var inWords: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(Double(milliseconds) / 1000) s"
    }
}
