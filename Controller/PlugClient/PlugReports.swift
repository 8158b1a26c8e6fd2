import NIOCore
import Synchronization

/// The reports of one plug, for one reader. The buffer is small: if a reader falls behind, the connection is no longer
/// read, and the plug keeps the remaining events in its journal.
public struct PlugReports: AsyncSequence, Sendable {
    public typealias Element = PlugReport
    public typealias Failure = Never

    fileprivate typealias Strategy = NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark
    fileprivate typealias Producer = NIOAsyncSequenceProducer<PlugReport, Strategy, Flow>

    /// The numbers of buffered reports at which reading from the network pauses and resumes.
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

    /// Returns the iterator. Call it once.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: producer.makeAsyncIterator()) }

    /// The iterator of the only reader.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let iterator: Producer.AsyncIterator

        /// Returns the next report, or nil after the plug was stopped.
        public mutating func next() async -> PlugReport? { await iterator.next() }
    }

    /// The writing end of the sequence, which ``FollowedPlug`` holds.
    struct Source: Sendable {
        fileprivate let source: Producer.Source
        fileprivate let flow: Flow

        /// Sets the plug that is notified when the reader needs more reports and when the reader ends.
        func attach(to plug: FollowedPlug) { flow.plug.withLock { $0 = WeakPlug(plug: plug) } }

        /// Buffers reports. Returns false if the reader is behind; the plug then pauses reading until `readerWantsMore`
        /// is called.
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
