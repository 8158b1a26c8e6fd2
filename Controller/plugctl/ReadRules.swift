import ArgumentParser
import Automation
import DurableFiles
import Foundation
import RuleFiles

/// Reads rule files and directories of `.yaml` and `.yml` files. Every error is said, with its place; then the exit status is 1.
func readRules(_ paths: [String]) throws -> [Rule] {
    var rules: [Rule] = []
    var isSound = true
    for path in try paths.flatMap(ruleFiles) {
        do {
            let text = String(decoding: try FileStore().read(path, limit: 1 << 20), as: UTF8.self)
            let file = try RuleFile(name: path, text: text)
            for rule in file.rules where rules.contains(where: { $0.name == rule.name }) {
                complain("\(path): a rule named \"\(rule.name)\" is in another file already\nhint: rename one of them")
                isSound = false
            }
            rules += file.rules
        } catch let error as FileError {
            complain("\(error)" + (error.hint.map { "\nhint: \($0)" } ?? ""))
            isSound = false
        } catch {
            complain("\(error)")
            isSound = false
        }
    }
    guard isSound else { throw ExitCode.failure }
    return rules
}

func ruleFiles(_ path: String) throws -> [String] {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else {
        return [path]
    }
    return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        .filter { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }.map { path + "/" + $0 }
}
