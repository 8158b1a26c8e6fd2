import Foundation
import RuleModel
import Testing

@testable import Effects

/// Uses a local server that follows a script.
@Suite("Web hooks") struct WebHookTests {
    private let event = EffectEvent(request(.notify(title: "", text: "")))

    /// - Parameter attempt: the time limit of an attempt. By default it does not end during a test, even on a busy machine.
    private func sender(
        pauses: [Duration] = [Duration](repeating: .milliseconds(1), count: 3), attempt: Duration = .seconds(3600)
    ) -> WebHookSender {
        WebHookSender(patience: .init(pauses: pauses, attempt: attempt, whole: .seconds(7200)))
    }

    private func hook(_ server: ScriptedServer, _ path: String = "/hook?a=b%20c", _ method: String = "POST") -> WebHook
    {
        WebHook(url: "http://127.0.0.1:\(server.port)\(path)", method: method)
    }

    @Test("The event is sent as JSON") func whatHappenedIsSentAsJSON() async throws {
        let server = try await ScriptedServer(ScriptedServer.reply("204 No Content"))
        #expect(await sender().send(hook(server), event) == .done)
        let heard = try #require(server.heard.first)
        #expect(heard.hasPrefix("POST /hook?a=b%20c HTTP/1.1\r\n"))
        #expect(heard.contains("Host: 127.0.0.1:\(server.port)\r\n"))
        #expect(heard.contains("Content-Type: application/json\r\n"))
        #expect(heard.contains("Idempotency-Key: \(String(repeating: "a5", count: 16))\r\n"))
        #expect(heard.hasSuffix(String(decoding: event.withoutTime.json, as: UTF8.self)))
        await server.close()
    }

    @Test("A rule may set the method and the body") func aRuleMaySayWhatIsSent() async throws {
        let server = try await ScriptedServer(ScriptedServer.reply("200 OK"))
        var put = hook(server, "", "put")
        put.body = "Wäsche fertig"
        #expect(await sender().send(put, event) == .done)
        put.body = "{\"text\":\"done\"}"
        #expect(await sender().send(put, event) == .done)
        #expect(await sender().send(hook(server, "/x", "GET"), event) == .done)
        // This body is not valid JSON, as if an unescaped value was inserted. It is sent as JSON nevertheless.
        put.body = " {\"why\": \"the \"big\" lamp\"}\n"
        #expect(await sender().send(put, event) == .done)
        let heard = server.heard
        #expect(heard.count == 4 && heard[3].contains("application/json"))
        #expect(heard[0].hasPrefix("PUT / HTTP/1.1\r\n") && heard[0].hasSuffix("\r\n\r\nWäsche fertig"))
        #expect(heard[0].contains("Content-Type: text/plain; charset=utf-8") && heard[1].contains("application/json"))
        #expect(heard[2].hasPrefix("GET /x HTTP/1.1\r\n") && heard[2].hasSuffix("\r\n\r\n"))
        #expect(!heard[2].contains("Content-Length"))
        await server.close()
    }

    @Test("A refusal is reported with the first line of the answer, and not retried")
    func aRefusalIsToldWithTheServersOwnWordsAndNotTriedAgain() async throws {
        let refusal = ScriptedServer.reply("422 Unprocessable Entity", body: "no such hook\nmore")
        let server = try await ScriptedServer(refusal)
        let outcome = await sender().send(hook(server), event)
        #expect(outcome == .failed("POST 127.0.0.1: status 422 Unprocessable Entity: no such hook"))
        #expect(server.heard.count == 1)
        await server.close()
    }

    @Test("If the answer of a refusal contains the URL, the refusal is reported without the answer's text")
    func aServerThatRepeatsTheAddressTellsItToNobody() async throws {
        let refusal = ScriptedServer.reply("404 Not Found", body: "Cannot POST /hooks/secret")
        let server = try await ScriptedServer(refusal)
        let outcome = await sender().send(hook(server, "/hooks/secret?more=1"), event)
        #expect(outcome == .failed("POST 127.0.0.1: status 404 Not Found"))
        await server.close()
        let wrong = await sender().send(WebHook(url: "ftp://127.0.0.1/hooks/secret"), event)
        #expect(wrong == .failed("POST ftp://127.0.0.1/…: not a web address (http:// or https://)"))
    }

    @Test("A redirection is not followed") func noRedirectionIsFollowed() async throws {
        let server = try await ScriptedServer(
            ScriptedServer.reply("302 Found", ["Location: http://a:b@127.0.0.1:1/secret?of=it"]))
        let outcome = await sender().send(hook(server), event)
        #expect(outcome.words.contains("redirects are not followed (http://127.0.0.1:1/…)"))
        #expect(server.heard.count == 1)
        await server.close()
    }

    @Test("A server error is retried three times") func aServerThatFailsIsTriedThreeTimesMore() async throws {
        let fault = ScriptedServer.reply("503 Service Unavailable")
        let well = try await ScriptedServer(fault, .end, fault, ScriptedServer.reply("200 OK"))
        #expect(await sender().send(hook(well), event) == .done)
        // The server closed the second connection before it read the request. The other three requests have the same
        // id.
        #expect(well.heard.count == 3 && well.heard.allSatisfy { $0.contains("Idempotency-Key: a5a5") })
        await well.close()
        let ill = try await ScriptedServer(fault)
        #expect(await sender().send(hook(ill), event).words.contains("status 503"))
        #expect(ill.heard.count == 4)
        await ill.close()
    }

    @Test("A server that does not answer is given up after the time limit")
    func whoeverSaysNothingIsNotWaitedFor() async throws {
        let server = try await ScriptedServer(.silence)
        let outcome = await sender(pauses: [.milliseconds(1)], attempt: .seconds(2)).send(hook(server), event)
        #expect(outcome == .failed("POST 127.0.0.1: no answer in time"))
        // On a busy machine the limit of an attempt can end before its request arrives.
        #expect(server.heard.count <= 2)
        await server.close()
    }

    @Test(
        "An answer that is not valid HTTP is a failure",
        arguments: [
            "HTTP/1.1 200", "this is not HTTP\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 200_000),
        ])
    func whatIsNoAnswerIsAFault(answer: String) async throws {
        let server = try await ScriptedServer(.answer(answer))
        #expect(await sender(pauses: []).send(hook(server), event) != .done)
        await server.close()
    }

    @Test("An endless answer does not fill the memory") func anAnswerWithoutEndFillsNothing() async throws {
        let portion = String(repeating: "x", count: 65_536)
        let server = try await ScriptedServer(.flood("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n" + portion))
        let outcome = await sender(pauses: []).send(hook(server), event)
        #expect(outcome.words.hasPrefix("POST 127.0.0.1: status 400") && outcome.words.utf8.count < 400)
        await server.close()
    }

    @Test("A server that cannot be reached is a failure") func whoeverIsNotThereIsSaid() async throws {
        let server = try await ScriptedServer(.silence)
        let (gone, port) = (hook(server), server.port)
        await server.close()
        let refusal = await sender().send(gone, event)
        #expect(refusal == .failed("POST 127.0.0.1: cannot connect: Connection refused"))
        let secure = WebHook(url: "https://127.0.0.1:\(port)/")
        #expect(await sender().send(secure, event) != .done)
        let nobody = WebHook(url: "http://no-such-host.invalid/")
        let unknown = await sender(pauses: []).send(nobody, event)
        // On a machine that reaches no name server, the lookup does not end in time.
        let reasons = ["cannot connect: unknown host name", "no answer in time"]
        #expect(reasons.contains { unknown == .failed("POST no-such-host.invalid: \($0)") })
    }

    @Test("A header field that cannot be sent is reported without its value") func secretFieldIsNotReported() async {
        let fields = [(name: "Authorization", value: "secret\nword")]
        await #expect(throws: WebFault("the request was not sent: invalid header field values")) {
            let request = try WebRequest(WebHook(url: "http://127.0.0.1:9/"), event, fields: fields)
            try await WebExchange(request, trustRoots: .default).run(within: .seconds(10))
        }
    }

    @Test("A requested pause is reported, and the path of an address is not")
    func postedPathIsSecret() async throws {
        for (text, pause) in [
            ("60", 60), ("0", 0), ("1234567", nil), ("-1", nil), ("Fri, 07 Nov 2025 23:59:59 GMT", nil),
        ]
            as [(String, Int?)]
        {
            let reply = ScriptedServer.reply("429 Too Many", ["Retry-After: \(text)"], body: "POST /send/secret failed")
            let server = try await ScriptedServer(reply)
            let client = try WebClient(to: "http://127.0.0.1:\(server.port)/send/secret", authority: nil)
            let fault = await #expect(throws: WebClient.Fault.self) {
                try await client.send([1], fields: [], within: .seconds(3600))
            }
            let words = fault?.words ?? ""
            #expect(words.hasPrefix("status 429 Too Many Requests") && !words.contains("secret"), "\(words)")
            #expect(fault?.status == 429 && fault?.isRetryable == true)
            #expect(fault?.retryAfter == pause.map { .seconds($0) }, "\(text)")
            await server.close()
        }
    }

    @Test("A server without TLS gets no request") func oneThatSpeaksNoTLSGetsNothing() async throws {
        let server = try await ScriptedServer(ScriptedServer.reply("200 OK"))
        let sender = sender(pauses: [], attempt: .milliseconds(500))
        let outcome = await sender.send(WebHook(url: "https://127.0.0.1:\(server.port)/"), event)
        #expect(outcome != .done && server.heard.isEmpty)
        await server.close()
        // This server answers in plain text as soon as the first bytes have arrived.
        let plain = try await ScriptedServer(.flood("HTTP/1.1 400 Bad Request\r\n\r\n"), answersAnything: true)
        let refusal = await self.sender(pauses: []).send(WebHook(url: "https://localhost:\(plain.port)/"), event)
        #expect(refusal == .failed("POST localhost: no secure connection: the server does not use TLS"))
        await plain.close()
    }

    @Test(
        "An invalid URL is a failure",
        arguments: [
            "", "hook", "ftp://127.0.0.1/", "http://", "http:///x", "http://user:word@127.0.0.1/",
            "http://127.0.0.1:99999/", "//x/y",
        ])
    func whatIsNoAddressIsSaid(url: String) async {
        #expect(await sender(pauses: []).send(WebHook(url: url), event) != .done)
        #expect(throws: WebFault.self) { try WebRequest(WebHook(url: url), event) }
    }

    @Test("Other methods than GET, POST and PUT are rejected") func otherMethodsAreNone() {
        #expect(throws: WebFault.self) { try WebRequest(WebHook(url: "http://a/", method: "DELETE"), event) }
        #expect(throws: Never.self) { try WebRequest(WebHook(url: "http://[::1]:80/"), event) }
    }

    @Test("Cancelling the task closes the connection", .timeLimit(.minutes(1)))
    func cancelledRequestCloses() async throws {
        let server = try await ScriptedServer(.silence)
        let task = Task { await sender().send(hook(server), event) }
        await server.waitForRequest()
        task.cancel()
        #expect(await task.value == .givenUp)
        await server.waitForEnd()
        await server.close()
    }

    @Test("Cancelling the task ends the request") func whoeverGivesUpWaitsNoLonger() async throws {
        let server = try await ScriptedServer(.silence)
        let task = Task { await sender().send(hook(server), event) }
        task.cancel()
        #expect(await task.value == .givenUp)
        await server.close()
    }
}
