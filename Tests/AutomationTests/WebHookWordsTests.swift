import Automation
import RuleModel
import Testing

@Suite struct WebHookWordsTests {
    @Test(
        "The text of a web hook names only the method and the server, and hides credentials, path and query",
        arguments: [
            ("https://host/services/T0/secret", "POST https://host/…"), ("https://host", "POST https://host"),
            ("http://host:8123/", "POST http://host:8123"), ("https://host?key=secret", "POST https://host/…"),
            ("https://user:secret@host/", "POST https://host"), ("https://a/b@c", "POST https://a/…"),
            ("https://host\\secret", "POST https://host/…"), ("http://[::1]:80/x", "POST http://[::1]:80/…"),
            ("secret", "POST …"), ("https://", "POST …"), ("https:///secret", "POST …"), ("mailto:secret", "POST …"),
            ("", "POST …"),
        ])
    func onlyTheServerIsTold(url: String, words: String) {
        let hook = WebHook(url: url)
        #expect(hook.words == words)
        #expect(RuleAction.webHook(hook).description == words)
        #expect(EffectRequest.Effect.webHook(hook).words == words)
    }
}
