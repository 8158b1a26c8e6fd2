import Automation
import Synchronization

/// A program that a rule runs: with the event on its standard input, and the end of what it says kept for whoever asks why it
/// failed. It is the leader of a session of its own, and whatever is left of its process group ends with it, or with its time.
struct Command: Sendable {
    let words: [String]
    let timeout: Duration
    let event: EffectEvent

    init(_ words: [String], timeout: Duration, event: EffectEvent) {
        self.words = words
        self.timeout = timeout
        self.event = event
    }

    /// Nobody's thread waits for it but one of its own.
    func run() async -> EffectOutcome {
        guard let interruption = Wake() else { return .failed("too many files are open") }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let work = { @Sendable in continuation.resume(returning: self.supervise(interruption)) }
                if !OwnThread.run(work) { continuation.resume(returning: .failed("no thread is left to wait for it")) }
            }
        } onCancel: {
            interruption.wake()
        }
        return outcome
    }

    private func supervise(_ interruption: Wake) -> EffectOutcome {
        let program = words.first ?? ""
        let process: ChildProcess
        do throws(ChildProcess.StartFault) {
            process = try ChildProcess(words, input: event.json, environment: Self.environment(of: event))
        } catch {
            return .failed("\(program) cannot be started: \(error.words)")
        }
        switch process.supervise(within: timeout, until: interruption) {
        case .exited(0): return .done
        case .exited(let status): return .failed("\(program) ended with status \(status)" + process.lastWords)
        case .signalled(let signal): return .failed("\(program) was ended by signal \(signal)" + process.lastWords)
        case .timedOut:
            return .failed("\(program) took longer than \(timeout.inWords) and was ended" + process.lastWords)
        case .interrupted: return .givenUp
        case .unknown(let code):
            return .failed("how \(program) ended is not known: \(ChildProcess.StartFault(code: code).words)")
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
