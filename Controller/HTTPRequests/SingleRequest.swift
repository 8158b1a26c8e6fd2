public import AsyncHTTPClient
import NIOCore

/// Sends one HTTP/1.1 request over its own connection, without redirects and without retries.
///
/// Each request has its own client, so that no request waits for the connection of another request, and no connection
/// and no certificate of an authority is used longer than one request.
public struct SingleRequest: Sendable {
    private let request: HTTPClientRequest
    private let connectLimit: TimeAmount
    private let limit: TimeAmount?

    /// - Parameters:
    ///   - request: The request, with its TLS settings.
    ///   - connectLimit: The time limit for the connection, including the TLS handshake.
    ///   - limit: The time limit for the whole response; nil for none.
    public init(_ request: HTTPClientRequest, connectWithin connectLimit: Duration, within limit: Duration?) {
        self.request = request
        self.connectLimit = TimeAmount(connectLimit)
        self.limit = limit.map { TimeAmount($0) }
    }

    /// Creates a request for the content of an address.
    ///
    /// - Parameters: As those of ``init(_:connectWithin:within:)``.
    public init(get address: String, connectWithin connectLimit: Duration, within limit: Duration?) {
        self.init(HTTPClientRequest(url: address), connectWithin: connectLimit, within: limit)
    }

    /// Sends the request and returns the status and the body of the response.
    ///
    /// - Throws: ``RequestFault``, with ``RequestFault/tooLarge(_:)`` for a body of more than `limit` bytes, or
    ///   `CancellationError`.
    public func load(limit: Int) async throws -> (status: UInt, body: [UInt8]) {
        try await run { response in
            (response.status.code, Array(try await response.body.collect(upTo: limit).readableBytesView))
        }
    }

    /// Sends the request and passes the response to `handle` as soon as its head has arrived. The connection is closed
    /// when `handle` returns, even if it has not read the whole body.
    ///
    /// - Throws: ``RequestFault``, the errors of `handle`, or `CancellationError` immediately after the task was
    ///   cancelled.
    public func run<Result>(_ handle: (HTTPClientResponse) async throws -> Result) async throws -> Result {
        let client = HTTPClient(configuration: configuration)
        // Closes the connection and does not wait. An unfinished attempt to connect ends at its time limit.
        defer { client.shutdown { _ in } }
        let deadline = limit.map { limit in
            client.eventLoopGroup.any().scheduleTask(in: limit) { client.shutdown { _ in } }
        }
        defer { deadline?.cancel() }
        do {
            return try await handle(try await client.execute(request, deadline: .distantFuture))
        } catch {
            guard let fault = RequestFault(error) else { throw error }
            try Task.checkCancellation()
            throw fault
        }
    }

    private var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: connectLimit))
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}
