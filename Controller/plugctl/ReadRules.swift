import ArgumentParser
import Automation
import Daemon
import DurableFiles
import RuleFiles

/// Reads rule files and directories of `.yaml` and `.yml` files. Every error is said, with its place; then the exit status is 1.
func readRules(_ paths: [String]) async throws -> [Rule] {
    let set = await RulesDirectory(paths, read: readRuleFile).current
    for fault in set.faults { complain(fault.words) }
    guard set.faults.isEmpty else { throw ExitCode.failure }
    return set.rules
}

/// What one file says, or what is wrong with it.
@Sendable func readRuleFile(_ path: String) -> RuleFileReading {
    do {
        let bytes = try FileStore().read(path, limit: 1 << 20)
        return .rules(try RuleFile(name: path, text: String(decoding: bytes, as: UTF8.self)).rules)
    } catch let error as FileError {
        return .broken("\(error)" + (error.hint.map { "\nhint: \($0)" } ?? ""))
    } catch {
        return .broken("\(error)")
    }
}
