import AsyncHTTPClient
internal import Glibc
public import LinuxSystem
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// The reason why no complete response arrived.
public enum RequestFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The connection was not established within its time limit.
    case notConnectedInTime
    /// The response was not complete within the time limit.
    case timedOut
    /// The host has no address.
    case unknownHost
    /// The system call that connects failed.
    case notConnected(SystemError)
    /// The TLS connection was not established, with a description. Most causes are permanent, so callers do not retry.
    case insecure(String)
    /// A system call failed after the connection was established.
    case failed(SystemError)
    /// The connection was closed before the response was complete.
    case closed
    /// The response is not valid HTTP.
    case invalid
    /// The body of the response has more than this number of bytes.
    case tooLarge(Int)
    /// The request was not sent, with a description that contains no part of the request. A retry would fail too.
    case notSent(String)

    /// The reason for a person, without a capital letter.
    public var description: String {
        switch self {
        case .notConnectedInTime, .timedOut: "no answer in time"
        case .unknownHost: "cannot connect: unknown host name"
        case .notConnected(let cause): "cannot connect: \(cause)"
        case .insecure(let reason): "no secure connection: \(reason)"
        case .failed(let cause): "the connection failed: \(cause)"
        case .closed: "the connection was closed before the answer arrived"
        case .invalid: "the connection failed: the answer is not valid HTTP"
        case .tooLarge(let limit): "the answer has more than \(limit) bytes"
        case .notSent(let reason): "the request was not sent: \(reason)"
        }
    }

    /// True if the same request may succeed later.
    public var isRetryable: Bool {
        switch self {
        case .notConnectedInTime, .timedOut, .unknownHost, .notConnected, .failed, .closed, .invalid: true
        case .insecure, .tooLarge, .notSent: false
        }
    }

    /// Creates the fault for an error of the HTTP client, of NIO or of TLS; nil for any other error.
    init?(_ error: any Error) {
        switch error {
        case let error as HTTPClientError: self.init(error)
        case ChannelError.connectTimeout: self = .notConnectedInTime
        case is ChannelError, HTTPParserError.invalidEOFState, NIOSSLError.uncleanShutdown: self = .closed
        case is HTTPParserError: self = .invalid
        case let error as NIOTooManyBytesError: self = .tooLarge(error.maxBytes ?? 0)
        case let error as IOError:
            let cause = SystemError(error.errnoCode)
            self = [ECONNRESET, EPIPE].contains(cause.code) ? .failed(cause) : .notConnected(cause)
        case let error as NIOConnectionError:
            self = error.connectionErrors.first.flatMap { Self($0.error) } ?? .unknownHost
        case NIOSSLError.noSuchFilesystemObject: self = .insecure("the file with the authorities does not exist")
        case NIOSSLError.failedToLoadCertificate: self = .insecure("the file with the authorities is not valid")
        case is NIOSSLError, is BoringSSLError: self = .insecure(Self.reason("\(error)"))
        case let error as NIOSSLExtraError:
            let isOther = error == .failedToValidateHostname
            self = .insecure(
                isOther ? "the server's certificate is for a different host" : "the host name is not valid in TLS")
        default: return nil
        }
    }

    private init(_ error: HTTPClientError) {
        switch error {
        // A client that is shut down during its request cancels the request.
        case .cancelled, .alreadyShutdown, .deadlineExceeded: self = .timedOut
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout: self = .notConnectedInTime
        case .remoteConnectionClosed, .requestStreamCancelled: self = .closed
        // The error may contain header fields, but its short description does not.
        default: self = .notSent(error.shortDescription.lowercased())
        }
    }

    /// Returns the cause of a failed handshake. BoringSSL has it only in its text.
    private static func reason(_ text: String) -> String {
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            "the server's certificate is not trusted"
        } else if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") {
            "the server does not use TLS"
        } else if text.contains("EOF during handshake") {
            "the server closed the connection"
        } else {
            "the TLS handshake failed"
        }
    }
}
