import DurableFiles
import HTTPTypes
import LinuxClocks
import NIOCore

/// Who has the password, or has shown that they had it.
struct Login: Sendable {
    let keeper: PasswordKeeper
    /// 32 random bytes that outlive the process, so that who is logged in stays so.
    let secret: [UInt8]

    /// What is known of the password, for somebody who came in from the network.
    private enum Need {
        case none
        case password(hash: String)
        case impossible(Refused)
    }

    /// Nil where whoever asks may.
    ///
    /// - Parameter isLoopback: the door is open to this machine alone; without a password it stands open then.
    func refusal(of headers: HTTPFields, from address: SocketAddress?, isLoopback: Bool) async -> Refused? {
        switch await need(isLoopback) {
        case .none: return nil
        case .impossible(let refused): return refused
        case .password(let hash):
            if isLoggedIn(headers, hash) { return nil }
            guard let password = BasicAuthorization.password(in: headers[values: .authorization]) else {
                return unauthorized("this needs the dashboard's password", headers)
            }
            return await refusal(of: password, hash, headers, from: address)
        }
    }

    /// Whether a password is wanted, and whether whoever asks has a session.
    func state(of headers: HTTPFields, isLoopback: Bool) async -> (isNeeded: Bool, isLoggedIn: Bool) {
        switch await need(isLoopback) {
        case .none: (false, true)
        case .impossible: (true, false)
        case .password(let hash): (true, isLoggedIn(headers, hash))
        }
    }

    /// The cookies for whoever knows the password: that of the session, and that of the device.
    func begin(
        _ password: String, _ headers: HTTPFields, from address: SocketAddress?, isLoopback: Bool
    ) async throws(Refused) -> (session: String, device: String) {
        switch await need(isLoopback) {
        case .none:
            throw Refused(409, "there is no password", hint: "plugctl daemon password sets one")
        case .impossible(let refused): throw refused
        case .password(let hash):
            if let refused = await refusal(of: password, hash, headers, from: address) { throw refused }
            let devices = DeviceCookie(secret: secret)
            return (
                SessionCookie(secret: secret, hash: hash).make(now: seconds),
                devices.kept(in: headers) ?? devices.make()
            )
        }
    }

    private func refusal(
        of password: String, _ hash: String, _ headers: HTTPFields, from address: SocketAddress?
    ) async -> Refused? {
        // A connection that is closed already has no address.
        let guesser = Guesser(
            network: address?.networkOfGuest ?? "", address: address?.ipAddress ?? "",
            device: DeviceCookie(secret: secret).kept(in: headers))
        switch await keeper.verify(password, hash: hash, by: guesser) {
        case .right: return nil
        case .wrong: return unauthorized("this is not the password", headers)
        case .wait(let time):
            let seconds = Int(time.inSeconds.rounded(.up))
            return Refused(429, "too many wrong passwords", hint: "try again in \(seconds) s")
                .with(.retryAfter, "\(seconds)")
        }
    }

    private func need(_ isLoopback: Bool) async -> Need {
        do throws(FileError) {
            if let hash = try await keeper.hash() { return .password(hash: hash) }
        } catch {
            return .impossible(Refused(503, "\(error)", hint: error.hint))
        }
        guard !isLoopback else { return .none }
        return .impossible(
            Refused(503, "the dashboard's password was removed", hint: "plugctl daemon password sets one"))
    }

    private func isLoggedIn(_ headers: HTTPFields, _ hash: String) -> Bool {
        let session = SessionCookie(secret: secret, hash: hash)
        return SessionCookie.values(in: headers[values: .cookie]).contains { session.isValid($0, now: seconds) }
    }

    /// A browser is not told of Basic authorization: it would ask the person in a window of its own, and not by our page.
    private func unauthorized(_ error: String, _ headers: HTTPFields) -> Refused {
        let scheme = headers[.secFetchSite] == nil ? "Basic" : "Session"
        return Refused(401, error, hint: "plugctl daemon password sets a new one")
            .with(.wwwAuthenticate, "\(scheme) realm=\"smartplug\"")
    }

    private var seconds: Int64 { WallTime.now.nanosecondsSince1970 / 1_000_000_000 }
}
