import NIOCore
import Synchronization

/// The reports of one plug, for one reader. It holds few: a reader that falls behind stops the reading from the network,
/// and the plug keeps the rest in its journal.
public struct PlugReports: AsyncSequence, Sendable {
    public typealias Element = PlugReport
    public typealias Failure = Never

    fileprivate typealias Strategy = NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark
    fileprivate typealias Producer = NIOAsyncSequenceProducer<PlugReport, Strategy, Flow>

    /// Reports that wait for the reader before reading from the network stops, and at which it goes on.
    private static let highWatermark = 256
    private static let lowWatermark = 64

    private let producer: Producer

    static func make() -> (PlugReports, Source) {
        let flow = Flow()
        let new = Producer.makeSequence(
            backPressureStrategy: Strategy(lowWatermark: lowWatermark, highWatermark: highWatermark),
            finishOnDeinit: false, delegate: flow)
        return (PlugReports(producer: new.sequence), Source(source: new.source, flow: flow))
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: producer.makeAsyncIterator()) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let iterator: Producer.AsyncIterator

        public mutating func next() async -> PlugReport? { await iterator.next() }
    }

    /// The end of the sequence that ``FollowedPlug`` holds.
    struct Source: Sendable {
        fileprivate let source: Producer.Source
        fileprivate let flow: Flow

        /// Whom to tell when the reader wants more, and when it is gone.
        func attach(to plug: FollowedPlug) { flow.plug.withLock { $0 = WeakPlug(plug: plug) } }

        /// False when the reader has fallen behind: nothing more should be read until `readerWantsMore` is called.
        func yield(_ reports: [PlugReport]) -> Bool {
            switch source.yield(contentsOf: reports) {
            case .produceMore, .dropped: true
            case .stopProducing: false
            }
        }

        func finish() { source.finish() }
    }

    fileprivate struct WeakPlug: Sendable {
        weak var plug: FollowedPlug?
    }

    fileprivate final class Flow: NIOAsyncSequenceProducerDelegate {
        let plug = Mutex(WeakPlug())

        func produceMore() { plug.withLock { $0.plug }?.readerWantsMore() }
        func didTerminate() { plug.withLock { $0.plug }?.readerIsGone() }
    }
}
