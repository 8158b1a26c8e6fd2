import Foundation
import LinuxSystem
import MQTT
import NIOPosix
import PlugTopics
import ProtocolCore
import Synchronization

/// A subscriber at the broker that records the arrival time of each message, on its own thread.
final class BrokerListener: Sendable {
    struct Message: Sendable {
        let topic: String
        let text: String
        let at: Instant
    }

    let messages: AsyncStream<Message>
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let connection: Mutex<BrokerConnection?>

    init(to broker: MosquittoBroker, hearing filters: String...) {
        let (messages, sink) = AsyncStream.makeStream(of: Message.self, bufferingPolicy: .bufferingNewest(100))
        self.messages = messages
        connection = Mutex(nil)
        thread.start()
        let options = BrokerOptions(
            client: "benchmark-\(UInt32.random(in: 0 ... .max))", trust: .plain)
        let server = BrokerServer(host: "127.0.0.1", port: broker.port)
        let loop = group.next()
        loop.execute {
            let opened = BrokerConnection(
                server, options, on: loop, thread: self.thread
            ) { [weak self] event in
                switch event {
                case .connected: self?.connection.withLock { $0 }?.subscribe(filters)
                case .received(let message):
                    sink.yield(
                        Message(
                            topic: message.topic, text: String(decoding: message.payload, as: UTF8.self),
                            at: BootClock.now))
                case .ended, .acknowledged, .subscribed, .notSubscribed: break
                }
            }
            self.connection.withLock { $0 = opened }
        }
    }

    func publish(_ topic: String, _ text: String) {
        let opened = connection.withLock { $0 }
        group.next().execute { opened?.publish(1, Publication(topic, text, isRetained: false)) }
    }

    func end() { connection.withLock { $0 }?.end() }
}
