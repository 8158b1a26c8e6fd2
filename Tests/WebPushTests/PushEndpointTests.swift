import Testing

@testable import WebPush

@Suite struct PushEndpointTests {
    private func fault(_ text: String, _ listed: Set<String> = []) -> PushEndpoint.Fault? {
        do throws(PushEndpoint.Fault) {
            _ = try PushEndpoint(text, listed: listed)
            return nil
        } catch {
            return error
        }
    }

    @Test("Addresses at public push services are accepted") func publicNames() throws {
        for (text, origin) in [
            ("https://fcm.googleapis.com/fcm/send/abc:APA91b-x_y", "https://fcm.googleapis.com"),
            ("https://updates.push.services.mozilla.com/wpush/v2/gAAAA", "https://updates.push.services.mozilla.com"),
            ("https://web.push.apple.com/QGuQyavXutnMH", "https://web.push.apple.com"),
            ("https://wns2-by3p.notify.windows.com/w/?token=BQYAAABl%2fx", "https://wns2-by3p.notify.windows.com"),
            ("https://PUSH.example.org:443?a=b", "https://push.example.org"),
            ("https://push.xn--bcher-kva.xn--p1ai/1", "https://push.xn--bcher-kva.xn--p1ai"),
        ] {
            let endpoint = try PushEndpoint(text)
            #expect(endpoint.origin == origin && endpoint.url == text)
        }
    }

    /// Attack class: a user has the daemon send requests into the local network (server-side request forgery).
    @Test("Addresses, local names and other ports are refused") func localHosts() {
        for host in [
            "127.0.0.1", "10.0.0.1", "192.168.1.1", "127.1", "2130706433", "0x7f.1", "0x7f000001", "1.1.1.1",
            "a.b.0x1", "[::1]", "[fe80::1]", "[::ffff:127.0.0.1]", "localhost", "LOCALHOST", "router", "a.localhost",
            "plugs.local", "plugs.LOCAL", "nas.lan", "nas.home.arpa", "vault.internal", "fritz.box.", "push..org",
            ".org", "-a.org", "a.org-", "1.0.0.127.in-addr.arpa", "x.onion",
            String(repeating: "a", count: 64) + ".org", String(repeating: "a.", count: 130) + "org",
        ] {
            #expect(fault("https://\(host)/x") == .notPublic, "\(host)")
        }
        for port in [":8443", ":80", ":0", ":", ":443:443", ":99999"] {
            #expect(fault("https://push.example.org\(port)/x") == .otherPort, "\(port)")
        }
    }

    @Test("Text that is not an https address is refused") func otherText() {
        for text in [
            "", "https://", "https:///x", "http://push.example.org/x", "HTTPS://push.example.org/x",
            "file:///etc/passwd",
            "https://me@push.example.org/x", "https://push.example.org@127.0.0.1/x",
            "https://push.example.org\\@10.0.0.1",
            "https://push.example.org#@10.0.0.1", "https://pus%68.example.org/x", "https://push.example.org/x y",
            "https://push.example.org/\r\nX: y", "https://pu\u{0}sh.example.org/", "https://ex\u{e4}mple.org/x",
            "https://push_.example.org/x", "https://push.example.org/<x>", " https://push.example.org/x",
        ] {
            #expect(fault(text) == .notHTTPS, "\(text)")
        }
        let prefix = "https://push.example.org/"
        #expect(fault(prefix + String(repeating: "a", count: PushEndpoint.longest - prefix.utf8.count)) == nil)
        #expect(
            fault(prefix + String(repeating: "a", count: PushEndpoint.longest - prefix.utf8.count + 1)) == .tooLong)
    }

    @Test("A listed service may have any host and port, and lists no other one") func listed() {
        let listed: Set = ["https://push.home.arpa:8443", "https://[fd00::1]", "https://10.0.0.2:444"]
        for place in ["push.home.arpa:8443", "[fd00::1]", "[fd00::1]:443", "10.0.0.2:444", "PUSH.home.arpa:8443"] {
            #expect(fault("https://\(place)/x", listed) == nil, "\(place)")
        }
        #expect(fault("https://push.home.arpa/x", listed) == .notPublic)
        #expect(fault("https://10.0.0.2:445/x", listed) == .notPublic)
        #expect(fault("https://10.0.0.2:444@10.0.0.3/x", listed) == .notHTTPS)
        #expect(fault("http://10.0.0.2:444/x", listed) == .notHTTPS)
    }
}
