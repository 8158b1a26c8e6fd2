import LinuxSystem
import NIOCore
import NIOHTTP1
import ProtocolCore

/// The first handler of the pipeline. It reports arriving bytes to the later handlers, which otherwise only see parsed
/// requests.
final class ArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    struct Arrival: Sendable {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireUserInboundEventTriggered(Arrival())
        context.fireChannelRead(data)
    }
}

/// Closes connections according to ``RequestDeadlines``, and adds the security headers to every answer.
final class RequestHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private var deadlines: RequestDeadlines
    private let guests: ConnectionTracker
    private var timer: (task: Scheduled<Void>, at: Instant)?
    /// True if the answer that was begun last has the header `Connection: close`.
    private var isLast = false
    /// True if arriving requests are ignored.
    private var isDeaf = false
    /// The number of answers until the connection closes; nil if the client did not ask to close it.
    private var answersLeft: Int?

    init(_ limits: DoorLimits, guests: ConnectionTracker) {
        deadlines = RequestDeadlines(limits, now: BootClock.now)
        self.guests = guests
    }

    func handlerAdded(context: ChannelHandlerContext) { follow(context) }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.task.cancel()
        timer = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ArrivalHandler.Arrival else { return context.fireUserInboundEventTriggered(event) }
        deadlines.receivedBytes(now: BootClock.now)
        follow(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        // A request after the last answer is ignored. Later parts of the previous request are still passed on.
        if isLast, case .head = part { isDeaf = true }
        guard !isDeaf else { return }
        switch part {
        case .head(let head):
            deadlines.receivedHead(now: BootClock.now)
            if !head.isKeepAlive, answersLeft == nil { answersLeft = deadlines.unanswered }
        case .body: break
        case .end: deadlines.receivedEnd(now: BootClock.now)
        }
        follow(context)
        context.fireChannelRead(data)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        deadlines.becameWritable(context.channel.isWritable, now: BootClock.now)
        follow(context)
        context.fireChannelWritabilityChanged()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            AnswerHeaders.add(to: &head.headers)
            if answersLeft == 1 { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            isLast = head.headers[canonicalForm: "connection"].contains("close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            context.write(data, promise: promise)
            deadlines.answered(now: BootClock.now)
            answersLeft = answersLeft.map { $0 - 1 }
            follow(context)
            // The remaining input is read until its deadline and discarded: a close with unread bytes would reset the
            // connection, and the client could lose the answer.
            if isLast {
                context.flush()
                context.close(mode: .output, promise: nil)
            }
        }
    }

    /// Schedules the timer for the next deadline. If the deadline moves later, the timer stays and is rescheduled when
    /// it fires.
    private func follow(_ context: ChannelHandlerContext) {
        guests.note(ObjectIdentifier(context.channel), deadlines.phase)
        guard let deadline = deadlines.nextDeadline else { return }
        if let timer, timer.at <= deadline { return }
        timer?.task.cancel()
        let left = max(.zero, deadline - BootClock.now)
        let this = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(in: .nanoseconds(left.wholeNanoseconds)) {
            let (handler, context) = this.value
            handler.ended(context)
        }
        timer = (task, deadline)
    }

    private func ended(_ context: ChannelHandlerContext) {
        timer = nil
        guard let deadline = deadlines.nextDeadline else { return }
        guard deadline > BootClock.now else { return context.close(promise: nil) }
        follow(context)
    }
}

/// The headers of every answer. They allow the page to load only its own resources, and forbid other sites to load the
/// dashboard's resources.
enum AnswerHeaders {
    static let always = [
        (
            "Content-Security-Policy",
            """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
            manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
            """
        ),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    static func add(to headers: inout HTTPHeaders) {
        for (name, value) in always { headers.replaceOrAdd(name: name, value: value) }
        // An answer that sets no caching policy must not be stored.
        if !headers.contains(name: "Cache-Control") { headers.add(name: "Cache-Control", value: "no-store") }
    }
}
