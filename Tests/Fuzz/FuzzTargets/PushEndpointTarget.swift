import Foundation
import WebPush

extension FuzzTarget {
    /// Checks the address of a subscription. An accepted address leads to a public name, also for the parser of the HTTP
    /// client.
    static let pushEndpoint = FuzzTarget(
        name: "push-endpoint",
        seeds: {
            [
                "https://fcm.googleapis.com/fcm/send/abc:APA91b-x_y", "https://push.example.org:443?token=a%2fb",
                "https://updates.push.services.mozilla.com/wpush/v2/gAAAA", "https://push.xn--bcher-kva.xn--p1ai/1",
            ].map { Array($0.utf8) }
        },
        check: { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            guard let endpoint = try? PushEndpoint(text) else { return false }
            let host = String(endpoint.origin.dropFirst("https://".count))
            try require(endpoint.url == text && endpoint.origin.hasPrefix("https://"), "the address changes")
            let labels = host.split(separator: ".", omittingEmptySubsequences: false)
            try require(
                labels.count > 1 && labels.allSatisfy { !$0.isEmpty }
                    && host.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x2D...0x39).contains($0) && $0 != 0x2F },
                "\(host) is not a name")
            try require(labels.last?.first?.isLetter == true && labels.last != "local", "\(host) is not public")
            // An address that the client cannot parse causes no request.
            if let url = URL(string: text) {
                try require(url.host()?.lowercased() == host, "the client connects to \(url.host() ?? "no host")")
                try require(url.scheme == "https" && url.port ?? 443 == 443, "the client connects to another port")
                try require(url.user() == nil && url.password() == nil, "the client sends a password")
            }
            return true
        })
}
