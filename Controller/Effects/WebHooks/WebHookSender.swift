import Automation
import NIOCore
import NIOSSL

/// Sends web hooks: once, or where the server was not reached or said that it failed itself, up to three times more. Each
/// carries the event's id, by which a server tells one that comes again from another.
struct WebHookSender: Sendable {
    /// What is waited before each further attempt.
    struct Patience: Sendable {
        var pauses: [Duration] = [.seconds(1), .seconds(4), .seconds(16)]
        /// Of one attempt, until the answer is there.
        var attempt = Duration.seconds(10)
        /// Of all of them; none is begun later.
        var whole = Duration.seconds(60)
    }

    var patience = Patience()
    var trustRoots = NIOSSLTrustRoots.default
    /// All of them hold.
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
                guard error.isWorthAnotherTry, let pause = pauses.popFirst(),
                    ContinuousClock.now - began + pause < patience.whole
                else { return .failed(words) }
                guard (try? await Task.sleep(for: pause)) != nil else { return .givenUp }
            }
        }
    }
}

/// Why a web hook did not do what it should.
struct WebFault: Error, Hashable {
    let words: String
    /// A server that was not reached, or that failed, may be well in a moment.
    let isWorthAnotherTry: Bool
    /// Of a server's answer.
    let status: UInt?

    init(_ words: String, isWorthAnotherTry: Bool = false, status: UInt? = nil) {
        self.words = words
        self.isWorthAnotherTry = isWorthAnotherTry
        self.status = status
    }
}
