import CMosquitto
import LinuxSystem
public import NIOCore
public import NIOPosix
public import PlugTopics
import Synchronization

/// One connection to a broker: the shell around libmosquitto, which uses its own thread. All methods must be called on
/// the event loop, and all events are reported there in order.
public final class BrokerConnection: Sendable {
    /// The events of a connection.
    public enum Event: Sendable {
        case connected
        /// The connection ended. This is the last event.
        ///
        /// - isTakenOver: true if another connection took the session over.
        case ended(reason: String, isTakenOver: Bool)
        /// The broker acknowledged a message. `refusal` is its reason for a rejection, or nil if it accepted.
        case acknowledged(BrokerTicket, refusal: String?)
        case received(BrokerMessage)
        /// The broker accepted one filter.
        case subscribed
        /// The broker rejected one filter: this program may not subscribe to its topics.
        case notSubscribed
    }

    /// The session expiry in seconds. It equals the longest lifetime of a command, so that the broker stores no older
    /// command.
    private static let session: UInt32 = 10
    /// The limit of a packet in bytes, far more than a request needs.
    private static let largestPacket: UInt32 = 65_536
    /// The limit of messages that wait for the event loop. It prevents a flood from filling the memory; further
    /// messages are dropped.
    private static let waitingLimit = 512
    /// The connect timeout in seconds.
    private static let patience: Int32 = 10
    private static let keepAlive: Int32 = 15

    private let eventLoop: any EventLoop
    private let report: @Sendable (Event) -> Void
    private let waiting = Atomic<Int>(0)
    /// The tickets of unacknowledged messages by libmosquitto's message number.
    private let tickets: NIOLoopBoundBox<[Int32: BrokerTicket]>
    private let link: Mutex<Link?>

    /// libmosquitto's connection. The functions that this class calls are safe on any thread.
    private struct Link: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// Opens a connection. Must be called on the event loop.
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
                return self.tell(.ended(reason: "this program is stopping", isTakenOver: false))
            }
            let (reason, isTakenOver) = self.run(server, options)
            self.tell(.ended(reason: reason, isTakenOver: isTakenOver))
        }
    }

    /// Publishes with QoS 1. If the connection has ended or libmosquitto rejects the message, the message is dropped
    /// without an event; `ended` reports the loss of the connection.
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

    /// Subscribes to the topic filters. The broker answers each filter with ``Event/subscribed`` or
    /// ``Event/notSubscribed``.
    public func subscribe(_ filters: [String]) {
        link.withLock { link in
            guard let link else { return }
            for filter in filters { _ = smartplug_mqtt_subscribe(link.pointer, filter) }
        }
    }

    /// Ends the connection. The broker publishes the will, and `ended` follows.
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
        // After the link is nil, no other thread uses the pointer.
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
        guard let context else { preconditionFailure("every callback receives the context of its connection") }
        return Unmanaged.fromOpaque(context).takeUnretainedValue()
    }

    private func acknowledged(_ number: Int32, _ refusal: String?) {
        // `publish` runs on the event loop and stores the number before it returns. So the number is stored when this
        // closure runs.
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

/// Calls the body with the texts as C strings, valid during the call; nil stays nil.
private func withCStrings<Result>(
    _ texts: [String?], _ body: ([UnsafePointer<CChar>?]) -> Result, _ done: [UnsafePointer<CChar>?] = []
) -> Result {
    guard done.count < texts.count else { return body(done) }
    guard let text = texts[done.count] else { return withCStrings(texts, body, done + [nil]) }
    return text.withCString { withCStrings(texts, body, done + [$0]) }
}
