public import DNSWire

/// Answers the questions of guests in the plug's own network: each name has the plug's address, so that a phone shows the
/// setup page (RFC 8910 names this behaviour).
public enum CaptiveNames {
    /// Returns the answer to a question; nil for a message that is not a question.
    ///
    /// - Parameter address: the plug's own address.
    public static func answer(_ query: [UInt8], address: IPv4Address) -> [UInt8]? {
        guard let message = try? Message(decoding: query), !message.flags.contains(.response),
            message.flags.operation == 0, let question = message.questions.first, message.questions.count == 1
        else { return nil }
        var encoder = MessageEncoder(limit: 512)
        guard encoder.append(question) else { return nil }
        // Without a lifetime, the phone asks again in its next network.
        if question.type == .a {
            guard encoder.append(Record(name: question.name, timeToLive: 0, data: .a(address)), to: .answer) else {
                return nil
            }
        }
        let flags = message.flags.intersection(.recursionDesired).union([.response, .authoritative])
        return encoder.finish(id: message.id, flags: flags)
    }
}
