import HTTPTypes
import Hummingbird
import Presentation

extension Dashboard {
    static let roomRoutes = [
        APIRoute(.post, "/api/v1/plugs/{plug}/room") { dashboard, request, context in
            _ = try QueryParameters(request)
            let room = try await RoomBody.read(from: request).name()
            return try await dashboard.move(try await dashboard.plug(context), to: room)
        },
        APIRoute(.delete, "/api/v1/plugs/{plug}/room") { dashboard, request, context in
            _ = try QueryParameters(request)
            return try await dashboard.move(try await dashboard.plug(context), to: nil)
        },
    ]

    private func move(_ plug: HouseBoard.Plug, to room: String?) async throws -> Response {
        guard let id = plug.id else {
            throw Fault(.conflict, "it is not paired with this controller", hint: "pair it with the code on its label")
        }
        do {
            try await board.assign(room, to: id)
        } catch let error as DecodingError {
            throw Fault.unavailable(
                "the file with the rooms is damaged: \(error)", hint: "remove rooms.json of the daemon")
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Fault(storing: error)
        }
        var record = plug.record
        record.room = room
        return Response(json: jsonLine(record))
    }
}

struct RoomBody: JSONBody {
    static let keys: Set = ["room"]
    private static let longest = 64

    /// The name of the room, 1 to 64 bytes of UTF-8 without line breaks.
    var room: String

    func name() throws(Fault) -> String {
        guard (1...Self.longest).contains(room.utf8.count), !room.contains(where: \.isNewline) else {
            throw .outOfRange("\"room\" is not valid", hint: "1 to \(Self.longest) bytes of UTF-8 without line breaks")
        }
        return room
    }
}
