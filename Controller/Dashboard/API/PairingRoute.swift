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
        }
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

private struct PairingBody: JSONBody {
    static let keys: Set = ["plug", "code"]

    /// The name or id of the plug.
    var plug: String
    var code: String
}
