import CDashboardPage
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore

/// The files of the web page, which are compiled into the program. Each is served only at its exact path.
struct Page: Sendable {
    struct File: Sendable {
        let bytes: ByteBuffer
        let type: String
        /// A digest of the content. Browsers fetch a file again after a new version of the daemon changed its digest.
        let tag: String
    }

    /// The files by path: "/", "/app.js".
    let files: [String: File]

    /// Loads the files of this program.
    init() {
        var files: [(String, [UInt8])] = []
        var next = dashboard_files()
        while let file = next?.pointee, let path = file.path {
            files.append((String(cString: path), Array(UnsafeBufferPointer(start: file.bytes, count: file.length))))
            next = next?.successor()
        }
        self.init(files)
    }

    init(_ files: [(path: String, bytes: [UInt8])]) {
        var found: [String: File] = [:]
        for (path, bytes) in files {
            let tag = SHA256.hash(data: bytes).prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            found[path == "index.html" ? "/" : "/" + path] = File(
                bytes: ByteBuffer(bytes: bytes), type: Self.type(of: path), tag: "\"\(tag)\"")
        }
        self.files = found
    }

    func add(to router: Router<DashboardContext>) {
        for (path, file) in files {
            router.get(RouterPath(path)) { request, _ in Self.response(file, to: request) }
        }
    }

    static func response(_ file: File, to request: Request) -> Response {
        // The browser caches the file, and asks the daemon at each use if the cached file is still current.
        let headers: HTTPFields = [.eTag: file.tag, .cacheControl: "no-cache", .contentType: file.type]
        let known = request.headers[values: .ifNoneMatch].flatMap { $0.split(separator: ",") }.map { tag in
            let bare = tag.filter { $0 != " " }
            return bare.hasPrefix("W/") ? String(bare.dropFirst(2)) : bare
        }
        guard !known.contains(file.tag), !known.contains("*") else {
            return Response(status: .notModified, headers: headers)
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: file.bytes))
    }

    static func type(of path: String) -> String {
        switch path.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        case "webmanifest": "application/manifest+json"
        case "json": "application/json"
        case "png": "image/png"
        case "ico": "image/x-icon"
        case "woff2": "font/woff2"
        case "txt": "text/plain; charset=utf-8"
        default: "application/octet-stream"
        }
    }
}
