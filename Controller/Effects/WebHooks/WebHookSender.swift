import Automation
import NIOSSL
import RuleModel

/// Sends web hooks. If the server cannot be reached, or reports that it failed, the request is sent up to three more
/// times. Each request carries the event's id, so that the server can detect repetitions.
struct WebHookSender: Sendable {
    /// The time limits and the pauses of the attempts.
    struct Patience: Sendable {
        var pauses: [Duration] = [.seconds(1), .seconds(4), .seconds(16)]
        /// The time limit of one attempt, until the answer has arrived.
        var attempt = Duration.seconds(10)
        /// The time limit of all attempts; no attempt begins after it.
        var whole = Duration.seconds(60)
    }

    var patience = Patience()
    var trustRoots = NIOSSLTrustRoots.default
    /// A request must satisfy all of these limits.
    var limits: [OutsideLimits] = []

    func send(_ hook: WebHook, _ event: EffectEvent) async -> EffectOutcome {
        let request: WebRequest
        do throws(WebFault) { request = try WebRequest(hook, event) } catch { return .failed(error.words) }
        let server = WebServer(host: request.host, port: request.port)
        if let refusal = limits.lazy.compactMap({ $0.refusal(ofServer: server) }).first { return .failed(refusal) }
        let began = ContinuousClock.now
        var pauses = patience.pauses[...]
        while true {
            let left = patience.whole - (ContinuousClock.now - began)
            do throws(WebFault) {
                try await WebExchange(request, trustRoots: trustRoots).run(within: min(patience.attempt, left))
                return .done
            } catch {
                guard !Task.isCancelled else { return .givenUp }
                let words = "\(hook.method) \(request.host): \(error.words)"
                guard error.isRetryable, let pause = pauses.popFirst(),
                    ContinuousClock.now - began + pause < patience.whole
                else { return .failed(words) }
                guard (try? await Task.sleep(for: pause)) != nil else { return .givenUp }
            }
        }
    }
}

/// The reason why a web request failed.
struct WebFault: Error, Hashable {
    let words: String
    /// True if a later attempt may succeed: the server was not reached, or it failed.
    let isRetryable: Bool
    /// The status code of the server's answer; nil without an answer.
    let status: UInt?
    /// The time for which the server asks to send no further request (RFC 9110 section 10.2.3); nil if it does not.
    let retryAfter: Duration?

    init(_ words: String, isRetryable: Bool = false, status: UInt? = nil, retryAfter: Duration? = nil) {
        self.words = words
        self.isRetryable = isRetryable
        self.status = status
        self.retryAfter = retryAfter
    }
}
