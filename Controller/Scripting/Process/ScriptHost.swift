internal import Glibc

/// Finds `plugctl-script`, the program that runs one script. It is installed with this program.
public enum ScriptHost {
    /// The file name of the program.
    public static let program = "plugctl-script"
    static let variable = "SMARTPLUG_SCRIPT_HOST"

    /// Returns the path of the program: the value of SMARTPLUG_SCRIPT_HOST, or a file in the folder of this program, or
    /// in `../lib/smartplug` from there.
    public static func path() throws(ScriptFault) -> String {
        if let named = getenv(variable).map({ String(cString: $0) }), !named.isEmpty {
            guard isProgram(named) else {
                throw .unavailable(
                    "\(variable) names \(named), which is not a program",
                    hint: "set it to the path of \(program), or unset it")
            }
            return named
        }
        let places = places(beside: own() ?? "")
        guard let found = places.first(where: isProgram) else {
            throw .unavailable(
                "\(program), which runs scripts, was not found at \(places.joined(separator: " or "))",
                hint: "install it there, or set \(variable) to its path")
        }
        return found
    }

    static func places(beside own: String) -> [String] {
        let folder = own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return ["\(folder)/\(program)", "\(folder)/../lib/smartplug/\(program)"]
    }

    private static func own() -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }

    private static func isProgram(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
}
