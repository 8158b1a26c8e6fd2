import CMosquitto
import LinuxClocks
public import NIOCore
public import NIOPosix
public import PlugTopics
import Synchronization

/// One connection to a broker: the shell around libmosquitto, which has a thread of its own here. All methods are for the event loop, and
/// everything that happens is told there, in order.
public final class BrokerConnection: Sendable {
    public enum Event: Sendable {
        case connected
        /// The last event.
        ///
        /// - isTakenOver: another connection has the session now.
        case ended(reason: String, isTakenOver: Bool)
        case acknowledged(BrokerTicket, refusal: String?)
        case received(BrokerMessage)
        /// The answer to one filter.
        case subscribed
        /// The other answer: the broker does not let this program hear what the filter names.
        case notSubscribed
    }

    /// Seconds that a broker keeps the session: as long as a command counts, so that it keeps none that is older.
    private static let session: UInt32 = 10
    /// Bytes: far more than a request needs.
    private static let largestPacket: UInt32 = 65_536
    /// Messages from the broker that wait for the event loop. Stops a flood from filling memory; what comes beyond is dropped.
    private static let waitingLimit = 512
    /// Seconds that connecting may take.
    private static let patience: Int32 = 10
    private static let keepAlive: Int32 = 15

    private let eventLoop: any EventLoop
    private let report: @Sendable (Event) -> Void
    private let waiting = Atomic<Int>(0)
    /// libmosquitto's number of each message that is on its way.
    private let tickets: NIOLoopBoundBox<[Int32: BrokerTicket]>
    private let link: Mutex<Link?>

    /// libmosquitto's functions that are called here take it from any thread.
    private struct Link: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// Opens a connection. On the event loop.
    ///
    /// - Parameters:
    ///   - thread: runs the connection until it has ended.
    ///   - report: called on the event loop.
    public init(
        _ server: BrokerServer, _ options: BrokerOptions, on eventLoop: any EventLoop, thread: NIOThreadPool,
        report: @escaping @Sendable (Event) -> Void
    ) {
        self.eventLoop = eventLoop
        self.report = report
        tickets = NIOLoopBoundBox([:], eventLoop: eventLoop)
        link = Mutex(nil)
        thread.submit { state in
            guard case .active = state else {
                return self.tell(.ended(reason: "it was stopped", isTakenOver: false))
            }
            let (reason, isTakenOver) = self.run(server, options)
            self.tell(.ended(reason: reason, isTakenOver: isTakenOver))
        }
    }

    /// Publishes with QoS 1. A message for which there is no connection any more is not told of: the end is.
    public func publish(_ ticket: BrokerTicket, _ publication: Publication) {
        var number: Int32 = 0
        var payload = publication.payload
        let correlation = publication.correlation ?? []
        let isSent = link.withLock { link in
            guard let link else { return false }
            return withCStrings([publication.topic, publication.responseTopic]) { texts in
                payload.withUTF8 { bytes in
                    correlation.withUnsafeBufferPointer { correlation in
                        var message = smartplug_mqtt_message(
                            topic: texts[0], payload: bytes.baseAddress, length: bytes.count,
                            is_retained: publication.isRetained ? 1 : 0, response_topic: texts[1],
                            correlation: correlation.baseAddress, correlation_length: correlation.count,
                            expiry: publication.expiry.map(Int64.init) ?? -1)
                        return smartplug_mqtt_publish(link.pointer, &number, &message) == 0
                    }
                }
            }
        }
        if isSent { tickets.value[number] = ticket }
    }

    public func subscribe(_ filters: [String]) {
        link.withLock { link in
            guard let link else { return }
            for filter in filters { _ = smartplug_mqtt_subscribe(link.pointer, filter) }
        }
    }

    /// The broker publishes the will; `ended` follows.
    public func end() {
        link.withLock { link in
            if let link { smartplug_mqtt_end(link.pointer) }
        }
    }

    // MARK: The thread

    private func tell(_ event: Event) {
        eventLoop.execute { self.report(event) }
    }

    private func run(_ server: BrokerServer, _ options: BrokerOptions) -> (reason: String, isTakenOver: Bool) {
        var message = [CChar](repeating: 0, count: 300)
        guard let pointer = open(server, options, &message) else { return (words(message), false) }
        link.withLock { $0 = Link(pointer: pointer) }
        let isTakenOver = smartplug_mqtt_run(pointer, &message, message.count) != 0
        // Nobody uses it from here on.
        link.withLock { $0 = nil }
        smartplug_mqtt_free(pointer)
        return (words(message), isTakenOver)
    }

    private func words(_ message: [CChar]) -> String {
        String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func open(
        _ server: BrokerServer, _ options: BrokerOptions, _ message: inout [CChar]
    ) -> OpaquePointer? {
        let ears = smartplug_mqtt_ears(
            context: Unmanaged.passUnretained(self).toOpaque(),
            connected: { BrokerConnection.from($0).tell(.connected) },
            acknowledged: { BrokerConnection.from($0).acknowledged($1, $2.map { String(cString: $0) }) },
            subscribed: { BrokerConnection.from($0).tell($1 != 0 ? .subscribed : .notSubscribed) },
            received: { context, message in
                if let message { BrokerConnection.from(context).received(message.pointee) }
            })
        let (file, directory): (String?, String?) =
            switch options.trust {
            case .plain: (nil, nil)
            case .machine: (nil, "/etc/ssl/certs")
            case .file(let path): (path, nil)
            }
        let texts = [
            server.host, options.client, options.user, options.password, file, directory, options.certificate?.chain,
            options.certificate?.key, options.willTopic, options.willText,
        ]
        return withCStrings(texts) { texts in
            var settings = smartplug_mqtt_settings(
                host: texts[0], port: Int32(clamping: server.port), client: texts[1], user: texts[2],
                password: texts[3], authority_file: texts[4], authority_directory: texts[5], certificate: texts[6],
                key: texts[7], will_topic: texts[8], will_text: texts[9], session: Self.session,
                largest_packet: Self.largestPacket, receive_maximum: UInt16(Self.waitingLimit / 2),
                keep_alive: Self.keepAlive, patience: Self.patience)
            return smartplug_mqtt_new(&settings, ears, &message, message.count)
        }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> BrokerConnection {
        guard let context else { preconditionFailure("the context was given with the functions") }
        return Unmanaged.fromOpaque(context).takeUnretainedValue()
    }

    private func acknowledged(_ number: Int32, _ refusal: String?) {
        // The number is entered on the event loop, in the turn that published: so it is there before this turn.
        eventLoop.execute {
            guard let ticket = self.tickets.value.removeValue(forKey: number) else { return }
            self.report(.acknowledged(ticket, refusal: refusal))
        }
    }

    private func received(_ message: smartplug_mqtt_message) {
        guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= Self.waitingLimit else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            return
        }
        let heard = BrokerMessage(
            topic: String(cString: message.topic),
            payload: message.length == 0
                ? [] : Array(UnsafeBufferPointer(start: message.payload, count: message.length)),
            isRetained: message.is_retained != 0, responseTopic: message.response_topic.map { String(cString: $0) },
            correlation: message.correlation.map {
                Array(UnsafeBufferPointer(start: $0, count: message.correlation_length))
            },
            expiry: message.expiry < 0 ? nil : UInt32(clamping: message.expiry),
            at: Double(WallTime.now.nanosecondsSince1970) / 1e9)
        eventLoop.execute {
            self.waiting.wrappingSubtract(1, ordering: .relaxed)
            self.report(.received(heard))
        }
    }
}

/// The texts as C has them, for as long as the body runs; nil stays nil.
private func withCStrings<Result>(
    _ texts: [String?], _ body: ([UnsafePointer<CChar>?]) -> Result, _ done: [UnsafePointer<CChar>?] = []
) -> Result {
    guard done.count < texts.count else { return body(done) }
    guard let text = texts[done.count] else { return withCStrings(texts, body, done + [nil]) }
    return text.withCString { withCStrings(texts, body, done + [$0]) }
}
