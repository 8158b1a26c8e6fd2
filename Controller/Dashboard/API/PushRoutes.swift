import HTTPTypes
import Hummingbird
import LinuxSystem
import Presentation
import WebPush

/// The answer of `GET /api/v1/push`.
struct PushRecord: Codable, Hashable {
    /// The key for which browsers subscribe: the uncompressed point of a P-256 key in base64url.
    var key: String
    /// The subscriptions that the user may see and end.
    var subscriptions: [PushSubscriptionRecord]
}

/// A subscribed browser, without its address and keys.
struct PushSubscriptionRecord: Codable, Hashable {
    var id: String
    /// The browser, in words.
    var device: String
    /// The start in ISO 8601, UTC.
    var since: String

    init(_ subscription: PushSubscription) {
        (id, device, since) = (subscription.id, subscription.device, subscription.since)
    }
}

extension Dashboard {
    static let pushRoutes = [
        APIRoute(.get, "/api/v1/push") { dashboard, request, context in
            _ = try QueryParameters(request)
            let pass = context.pass
            let (key, all) = try await dashboard.pushing { (try $0.key(), try $0.subscriptions()) }
            let visible = all.filter { subscription in pass.map(subscription.isVisible) ?? false }
            let record = PushRecord(key: key.publicKey, subscriptions: visible.map(PushSubscriptionRecord.init))
            return Response(json: jsonLine(record))
        },
        APIRoute(.post, "/api/v1/push/subscriptions") { dashboard, request, context in
            _ = try QueryParameters(request)
            let body = try await PushBody.read(from: request).checked(listed: dashboard.settings.push.services)
            guard let pass = context.pass else { throw Fault(.unauthorized, "log in first") }
            let new = PushSubscription(body, device: DeviceDescription.of(request.headers[.userAgent]), of: pass)
            guard let stored = try await dashboard.pushing({ try $0.add(new) }) else {
                throw Fault(
                    .conflict, "too many browsers receive notifications",
                    hint: "turn them off in another one; a user may have \(SeatLimits.subscriptions.password)")
            }
            return Response(json: jsonLine(PushSubscriptionRecord(stored)))
        },
        APIRoute(.delete, "/api/v1/push/subscriptions/{subscription}") { dashboard, request, context in
            _ = try QueryParameters(request)
            guard let pass = context.pass, let id = context.parameters.get("subscription") else {
                throw Fault(.unauthorized, "log in first")
            }
            guard try await dashboard.pushing({ try $0.remove { $0.id == id && $0.isVisible(to: pass) } }) else {
                throw Fault(.notFound, "no subscription has this id", hint: "/api/v1/push lists the subscriptions")
            }
            return Response(status: .noContent)
        },
    ]

    /// Runs work on the key and the subscriptions.
    ///
    /// - Throws: ``Fault``.
    private func pushing<Answer: Sendable>(
        _ work: @escaping @Sendable (PushStore) throws -> Answer
    ) async throws -> Answer {
        do {
            return try await HistoryThreads.run { [push] in try work(push) }
        } catch let error as DecodingError {
            throw Fault.unavailable(
                "the file with the subscriptions is damaged: \(error)",
                hint: "remove push-subscriptions.json of the daemon")
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Fault(storing: error)
        }
    }
}

struct PushBody: JSONBody, Hashable {
    static let keys: Set = ["endpoint", "p256dh", "auth"]

    /// The address at the push service (RFC 8030 section 5).
    var endpoint: String
    /// The browser's P-256 key and its secret in base64url (RFC 8291 section 2).
    var p256dh: String
    var auth: String

    /// Returns the body if the address and the keys are valid.
    ///
    /// - Parameter listed: the origins of push services that may have any host and port.
    /// - Throws: ``Fault``, which contains no part of the body.
    func checked(listed: Set<String>) throws(Fault) -> PushBody {
        do throws(PushEndpoint.Fault) {
            _ = try PushEndpoint(endpoint, listed: listed)
        } catch {
            throw .outOfRange(
                "\"endpoint\" is not valid: \(error)",
                hint: "for an own push service, start the daemon with --push-service")
        }
        guard PushReceiverKeys(p256dh: p256dh, auth: auth) != nil else {
            throw .outOfRange(
                "\"p256dh\" or \"auth\" is not valid", hint: "a point of P-256 of 65 bytes, and 16 bytes, in base64url")
        }
        return self
    }
}
