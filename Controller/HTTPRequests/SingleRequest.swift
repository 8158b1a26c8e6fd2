public import AsyncHTTPClient
import NIOCore
import ProtocolCore

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

    /// Creates a request that sends the fields of a form (`application/x-www-form-urlencoded`).
    ///
    /// - Parameter limit: The time limit for the connection and for the whole response.
    public init(form fields: [(name: String, value: String)], to address: String, within limit: Duration) {
        var request = HTTPClientRequest(url: address)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        let text = fields.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }.joined(separator: "&")
        request.body = .bytes(ByteBuffer(string: text))
        self.init(request, connectWithin: limit, within: limit)
    }

    /// Replaces all bytes except letters and digits of ASCII by `%NN`.
    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%" + HexadecimalText.text(of: [byte])
            }
        }
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
