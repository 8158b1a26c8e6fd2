import ArgumentParser
import Daemon
import Foundation
import LinuxSystem
import RuleFiles
import Scripting

/// Reads rule files, scripts, and directories of `.yaml`, `.yml` and `.lua` files. Prints each error with its place,
/// and throws `ExitCode.failure` if there are errors.
func readRuleSet(_ paths: [String]) async throws -> RuleFileSet {
    let set = await RulesDirectory(paths, read: readRuleFile).current
    for fault in set.faults { printError(fault.words) }
    guard set.faults.isEmpty else { throw ExitCode.failure }
    return set
}

/// Reads one file and returns its rules or its error.
@Sendable func readRuleFile(_ path: String) -> RuleFileReading {
    do {
        let text = try readText(path)
        guard isScript(path) else { return .rules(try RuleFile(name: path, text: text).rules) }
        return .script(try readScript(path, text))
    } catch let error as FileError {
        return .broken("\(error)" + (error.hint.map { "\nhint: \($0)" } ?? ""))
    } catch let error as ScriptFault {
        guard case .refused = error else { return .broken("\(path): \(error)") }
        return .broken("\(error)")
    } catch {
        return .broken("\(error)")
    }
}

func readText(_ path: String) throws(FileError) -> String {
    try FileStore().readText(path, limit: 1 << 20)
}

func isScript(_ path: String) -> Bool { path.hasSuffix(".lua") }

/// Loads the script once, in its own process. Errors contain the full path.
func readScript(_ path: String, _ text: String) throws(ScriptFault) -> Script {
    do {
        return try ScriptReader(host: try ScriptHost.path()).read(
            name: URL(filePath: path).lastPathComponent, source: text, time: .now)
    } catch {
        guard case .refused(var faults) = error else { throw error }
        for index in faults.diagnostics.indices { faults.diagnostics[index].file = path }
        throw .refused(faults)
    }
}

/// Creates the processes that run scripts for the daemon; nil if `plugctl-script` is not installed. The error is then
/// reported when the first script is read.
func scriptPool() -> ScriptPool? {
    guard let host = try? ScriptHost.path() else { return nil }
    return ScriptPool(host: host)
}
