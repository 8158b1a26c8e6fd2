import Daemon
import Effects
import Foundation
import LinuxSystem
import RuleChecks
import RuleFiles
import TestSupport
import Testing

@testable import RuleEditing

@Suite struct RuleEditorTests {
    private static let lamp = "- rule: Night\n  when: { time: \"23:00\" }\n  then:\n    - turn off: Lamp\n"
    private static let program = lamp + "    - run: [/bin/ring, loud]\n"

    private let folder = TestFolder()
    private let context = RuleCheckContext(
        plugs: [KnownPlug(name: "Lamp"), KnownPlug(name: "Hall")], machines: [], daylight: nil,
        policy: EffectPolicy())

    private func editor(mayEdit: Bool = true) -> RuleEditor {
        let directory = RulesDirectory([folder.path], mayBeMissing: true) { path in
            guard let text = try? String(contentsOfFile: path, encoding: .utf8),
                let file = try? RuleFile(name: path, text: text)
            else { return .broken("\(path): not valid") }
            return .rules(file.rules)
        }
        return RuleEditor(directory, mayEdit: mayEdit, policy: EffectPolicy(), daylight: nil)
    }

    private func put(_ name: String, _ text: String) throws {
        try text.write(toFile: folder.path + "/" + name, atomically: false, encoding: .utf8)
    }

    private func text(_ name: String) -> String? {
        try? String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)
    }

    private func error(_ body: () throws(RuleEditError) -> Void) -> RuleEditError? {
        do throws(RuleEditError) { try body() } catch { return error }
        return nil
    }

    @Test("A file is created, changed and removed, each time from the version that was read")
    func life() async throws {
        let editor = editor()
        let made = try editor.create("night.yaml", Self.lamp, in: context, await editor.snapshot())
        #expect(text("night.yaml") == Self.lamp)
        let read = try editor.read("night.yaml", await editor.snapshot())
        #expect(read.version == made.version && read.text == Self.lamp)
        let other = Self.lamp.replacing("23:00", with: "22:00")
        let written = try editor.write(
            other, to: "night.yaml", replacing: read.version, in: context, await editor.snapshot())
        #expect(text("night.yaml") == other && written.version != read.version)
        let snapshot = await editor.snapshot()
        #expect(
            error { () throws(RuleEditError) in try editor.remove("night.yaml", version: read.version, snapshot) }
                == .changed("night.yaml"))
        try editor.remove("night.yaml", version: written.version, snapshot)
        #expect(text("night.yaml") == nil)
        // No unfinished file is left.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    /// Attack class: a change by another editor is lost.
    @Test("A file that has changed since it was read is not replaced")
    func conflict() async throws {
        try put("night.yaml", Self.lamp)
        let editor = editor()
        let snapshot = await editor.snapshot()
        let read = try editor.read("night.yaml", snapshot)
        try put("night.yaml", "# mine\n" + Self.lamp)
        let conflict = error { () throws(RuleEditError) in
            _ = try editor.write("", to: "night.yaml", replacing: read.version, in: context, snapshot)
        }
        #expect(conflict == .changed("night.yaml") && text("night.yaml") == "# mine\n" + Self.lamp)
    }

    /// Attack class: an owner's session is used to run programs on the daemon's machine.
    @Test("An action that leaves the house is neither added nor changed, but may stay and may be removed")
    func outsideActions() async throws {
        try put("night.yaml", Self.program)
        let editor = editor()
        let snapshot = await editor.snapshot()
        func write(_ text: String) throws(RuleEditError) -> Void {
            let version = try editor.read("night.yaml", snapshot).version
            _ = try editor.write(text, to: "night.yaml", replacing: version, in: context, snapshot)
        }
        try write(Self.program.replacing("23:00", with: "22:00"))
        let refused = [
            Self.program.replacing("loud", with: "louder"), Self.program + "    - run: [/bin/ring, loud]\n",
            Self.program + "    - web hook: http://127.0.0.1/\n",
        ]
        for text in refused {
            guard case .faulty(let found) = error({ () throws(RuleEditError) in try write(text) }) else {
                Issue.record("accepted: \(text)")
                continue
            }
            let errors = found.filter { $0.severity == .error }
            #expect(errors.count == 1 && errors[0].message.contains("runs a program"), "\(found)")
            #expect(errors[0].place.line >= 5)
        }
        #expect(text("night.yaml") == Self.program.replacing("23:00", with: "22:00"))
        try write(Self.lamp)
        // The action is gone, so it may not return.
        #expect(error { () throws(RuleEditError) in try write(Self.program) } != nil)
        let created = error { () throws(RuleEditError) in
            _ = try editor.create("other.yaml", Self.program, in: context, snapshot)
        }
        guard case .faulty = created else { return #expect(Bool(false), "a new file runs a program") }
        #expect(text("other.yaml") == nil)
    }

    @Test("An editor without permission reads and checks, but changes nothing")
    func off() async throws {
        try put("night.yaml", Self.lamp)
        let editor = editor(mayEdit: false)
        let snapshot = await editor.snapshot()
        let version = try editor.read("night.yaml", snapshot).version
        #expect(try editor.check(Self.lamp, as: "night.yaml", in: context, snapshot).isEmpty)
        let errors = [
            error { () throws(RuleEditError) in
                _ = try editor.write("", to: "night.yaml", replacing: version, in: context, snapshot)
            },
            error { () throws(RuleEditError) in
                _ = try editor.create("other.yaml", Self.lamp, in: context, snapshot)
            },
            error { () throws(RuleEditError) in try editor.remove("night.yaml", version: version, snapshot) },
        ]
        #expect(errors == [.off, .off, .off] && text("night.yaml") == Self.lamp && text("other.yaml") == nil)
    }

    /// Attack class: a name leads out of the directory of the rules.
    @Test("A new file has a name of safe characters and no path")
    func names() async throws {
        let editor = editor()
        let snapshot = await editor.snapshot()
        let names = [
            "", ".yaml", "a", "a.lua", "../a.yaml", "/etc.yaml", "a/b.yaml", "..yaml", "a .yaml", "é.yaml",
            "a\u{0}.yaml", "a.yaml\n", ".a.yaml", "a.b.yaml", String(repeating: "a", count: 60) + ".yaml",
        ]
        for name in names {
            let found = error { () throws(RuleEditError) in
                _ = try editor.create(name, Self.lamp, in: context, snapshot)
            }
            #expect(found == .invalidName, "\(name)")
        }
        _ = try editor.create("Evening_1-b.yml", Self.lamp, in: context, snapshot)
        let again = error { () throws(RuleEditError) in
            _ = try editor.create("Evening_1-b.yml", Self.lamp, in: context, snapshot)
        }
        #expect(again == .exists("Evening_1-b.yml"))
        #expect(
            error { () throws(RuleEditError) in _ = try editor.read("../Evening_1-b.yml", snapshot) }
                == .unknown("../Evening_1-b.yml"))
    }

    @Test("Links, scripts and large files are shown, but not changed")
    func obstacles() async throws {
        try put("real", Self.lamp)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link.yaml", withDestinationPath: folder.path + "/real")
        try put("script.lua", "log('x')")
        try put("large.yaml", String(repeating: "#\n", count: RuleEditor.textLimit))
        let editor = editor()
        let snapshot = await editor.snapshot()
        let files = editor.files(snapshot)
        #expect(files.map(\.name) == ["large.yaml", "link.yaml", "script.lua"])
        for file in files {
            #expect(file.obstacle != nil, "\(file.name)")
            let version = try editor.read(file.name, snapshot).version
            let found = error { () throws(RuleEditError) in
                _ = try editor.write(Self.lamp, to: file.name, replacing: version, in: context, snapshot)
            }
            guard case .readOnly = found else {
                return #expect(Bool(false), "\(file.name): \(String(describing: found))")
            }
            guard
                case .readOnly = error({ () throws(RuleEditError) in
                    try editor.remove(file.name, version: version, snapshot)
                })
            else { return #expect(Bool(false), "\(file.name) was removed") }
        }
        #expect(
            error { () throws(RuleEditError) in
                _ = try editor.check(
                    String(repeating: " ", count: RuleEditor.textLimit + 1), as: "a", in: context, snapshot)
            } == .tooLarge)
    }

    @Test("A change does not add permissions to a file")
    func permissions() async throws {
        try put("night.yaml", Self.lamp)
        let path = folder.path + "/night.yaml"
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let editor = editor()
        let snapshot = await editor.snapshot()
        let version = try editor.read("night.yaml", snapshot).version
        let text = Self.lamp + "\n"
        _ = try editor.write(text, to: "night.yaml", replacing: version, in: context, snapshot)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
    }

    @Test("A text is checked together with the rules of the other files")
    func otherFiles() async throws {
        try put("a.yaml", Self.lamp)
        let editor = editor()
        let snapshot = await editor.snapshot()
        // A rule may replace itself, but may not be in two files.
        #expect(try editor.check(Self.lamp, as: "a.yaml", in: context, snapshot).isEmpty)
        let twice = try editor.check("# comment\n" + Self.lamp, as: "b.yaml", in: context, snapshot)
        #expect(twice.contains { $0.severity == .error && $0.place.line == 2 }, "\(twice)")
        // The first file is also not saved with a name of the second one.
        try put("b.yaml", Self.lamp.replacing("Night", with: "Evening"))
        let both = self.editor()
        let evening = try both.check(
            Self.lamp.replacing("Night", with: "Evening"), as: "a.yaml", in: context, await both.snapshot())
        #expect(evening.contains { $0.severity == .error }, "\(evening)")
        let unknown = try editor.check(Self.lamp.replacing("Lamp", with: "Lapm"), as: "a.yaml", in: context, snapshot)
        #expect(unknown.contains { $0.place.line == 4 && $0.hint?.contains("Lamp") == true }, "\(unknown)")
        let syntax = try editor.check("- rule: [", as: "a.yaml", in: context, snapshot)
        #expect(syntax.count == 1 && syntax[0].severity == .error)
    }
}
