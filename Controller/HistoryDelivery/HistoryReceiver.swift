import NIOPosix
import PowerHistory

/// Somebody who gets a history. One call at a time.
protocol HistoryReceiver: Sendable {
    /// Reaches it; whatever was there before of a connection is gone.
    /// - Returns: what it has; nil: nothing.
    func connect() async throws(DeliveryFault) -> FeedPosition?

    /// Called now and then while nothing else is done.
    /// - Parameter hasAll: whether it has all of the history.
    func idle(hasAll: Bool) async throws(DeliveryFault)

    /// Gives it a part of what changed.
    /// - Parameters:
    ///   - position: up to where it has everything, in the epoch that counts now.
    ///   - limit: changes in the part.
    /// - Returns: up to which number it has all, and whether nothing is left behind that.
    func deliver(
        from source: HistorySource, after position: FeedPosition, atMost limit: Int
    ) async throws(DeliveryFault) -> (through: Int64, isAll: Bool)

    /// Closes what is open.
    func end() async

    /// Makes whatever waits fail now, and all that comes. At any time.
    func giveUp()
}

/// A thread for what blocks.
struct BlockingThread: Sendable {
    private let pool = NIOThreadPool(numberOfThreads: 1)

    init() { pool.start() }

    func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(DeliveryFault) -> Value
    ) async throws(DeliveryFault) -> Value {
        let result = try? await pool.runIfActive { () -> Result<Value, DeliveryFault> in
            do throws(DeliveryFault) { return .success(try body()) } catch { return .failure(error) }
        }
        guard let result else { throw DeliveryFault(reason: "it was ended") }
        return try result.get()
    }

    func end() async { try? await pool.shutdownGracefully() }
}
