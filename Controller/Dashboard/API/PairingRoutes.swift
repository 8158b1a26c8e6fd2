import HTTPTypes
import Hummingbird
import PlugClient
import PlugModel
import PlugProtocol
import Presentation

extension Dashboard {
    static let pairingRoutes = [
        APIRoute(.post, "/api/v1/pairings") { dashboard, request, _ in
            _ = try QueryParameters(request)
            let body = try await PairingBody.read(from: request)
            return try await dashboard.pair(body)
        },
        APIRoute(.post, "/api/v1/plugs/{plug}/invitations") { dashboard, request, context in
            _ = try QueryParameters(request)
            let grant = try await InvitationBody.read(from: request).grant()
            return try await dashboard.invite(to: try await dashboard.plug(context), as: grant)
        },
        APIRoute(.post, "/api/v1/plugs/{plug}/unpair") { dashboard, request, context in
            _ = try QueryParameters(request)
            let isHereOnly = try await UnpairBody.read(from: request).hereOnly ?? false
            return try await dashboard.unpair(try await dashboard.plug(context), isHereOnly: isHereOnly)
        },
    ]

    private func pair(_ body: PairingBody) async throws -> Response {
        let code: SetupCode
        do throws(SetupCodeError) {
            code = try SetupCode(text: body.code)
        } catch {
            throw Fault(.unprocessableContent, words: "\(error)")
        }
        // The exact name is searched first, because an unpaired plug is listed under its announced name. `known` would prefer
        // a paired plug whose name differs only in capitals.
        await board.begin()
        var plug = await board.board.plugs[body.plug]
        if plug == nil { plug = await known(body.plug) }
        guard let name = plug?.record.plug else { throw Self.unknown(body.plug) }
        guard await board.beginPairing() else {
            throw Fault.unavailable("another pairing is in progress", hint: "try again in a moment")
        }
        let result = await Result { try await house.pair(name, code: code) }
        await board.endPairing()
        do {
            return Response(json: jsonLine(PairedRecord(try result.get())), status: .created)
        } catch let error as PairingError {
            throw Fault(error.isRefusal ? .conflict : .serviceUnavailable, words: "\(error)")
        } catch let error as PairedPlugsError {
            throw Fault(error.isClaim ? .conflict : .serviceUnavailable, words: "\(error)")
        } catch {
            throw Fault(.serviceUnavailable, words: "\(error)")
        }
    }
}

extension Dashboard {
    private func invite(to plug: HouseBoard.Plug, as grant: Grant) async throws -> Response {
        var random = SystemRandomNumberGenerator()
        let (name, code) = (plug.record.plug, SetupCode(drawnFrom: &random))
        let time = try await ask(plug.record) { try await $0.invite(to: name, code: code, as: grant) }
        guard let time, let id = plug.id else { throw Self.isAway(plug.record) }
        let record = InvitationRecord(code, as: grant, valid: time, plug: name, id: id)
        return Response(json: jsonLine(record), status: .created)
    }

    private func unpair(_ plug: HouseBoard.Plug, isHereOnly: Bool) async throws -> Response {
        let name = plug.record.plug
        do {
            if isHereOnly {
                guard plug.record.state == PlugRecord.away, let id = plug.id else {
                    throw Fault(.conflict, "\(name) is not away", hint: "unpair it without \"hereOnly\"")
                }
                try await house.forget(id)
            } else {
                try await ask(plug.record) { try await $0.unpair(name) }
            }
        } catch let error as PairedPlugsError {
            throw Fault(.serviceUnavailable, words: "\(error)")
        }
        await board.learnPaired()
        return Response(status: .noContent)
    }
}

extension PairedPlugsError {
    /// True if the plug uses the id of a different plug that is already paired.
    fileprivate var isClaim: Bool {
        switch self {
        case .pinned: true
        case .unusable, .damaged, .damagedAddress: false
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}

extension PairingError {
    /// True if the plug refused the pairing, or did not prove that it knows the setup code; false if its answer was missing
    /// or faulty.
    fileprivate var isRefusal: Bool {
        switch self {
        case .windowClosed, .wrongCode, .notThePlug, .refused: true
        case .protocolFault, .silent, .connectionLost: false
        }
    }
}

struct PairingBody: JSONBody {
    static let keys: Set = ["plug", "code"]

    /// The name or id of the plug.
    var plug: String
    var code: String
}

struct InvitationBody: JSONBody {
    static let keys: Set = ["role", "seconds"]

    /// The role of the new controller: owner, user, viewer or guest.
    var role: String
    /// The time for which the new controller stays paired, 60 to 31536000 seconds; unlimited if omitted. A guest needs
    /// a limit, and an owner has none.
    var seconds: Double?

    func grant() throws(Fault) -> Grant {
        guard let role = Role(rawValue: role) else {
            throw .outOfRange("\"role\" is not valid", hint: "owner, user, viewer or guest")
        }
        let whole = seconds.flatMap { UInt32(exactly: $0) }
        guard seconds == nil || whole != nil else {
            throw .outOfRange("\"seconds\" is out of range", hint: "60 to 31536000, without fraction")
        }
        do throws(GrantError) {
            return try Grant(role, seconds: whole)
        } catch {
            throw .outOfRange("\(error)")
        }
    }
}

struct UnpairBody: JSONBody {
    static let keys: Set = ["hereOnly"]

    /// True to forget a plug that is away, without contacting it.
    var hereOnly: Bool?
}
