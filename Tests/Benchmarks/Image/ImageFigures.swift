import Foundation

/// Measures the start of the image that SMARTPLUG_IMAGE names, in an emulated machine whose clock counts instructions.
@Sendable
func imageFigures(_ setting: Setting) async throws -> [Figure] {
    // The emulator may use all cores.
    let child = try ChildProcess(
        "/usr/bin/env",
        [
            "PYTHONPATH=Tests/Support/Python:Tests/HardwareInTheLoop", "taskset", "--cpu-list", "0-1023",
            ".build-python/bin/python", "Tests/Image/boot_time.py",
        ])
    defer { child.finish() }
    var seconds: [String: Double] = [:]
    while let line = child.line() {
        let words = line.split(separator: " ")
        if words.count == 2 { seconds[String(words[0])] = Double(words[1]) }
    }
    guard let kernel = seconds["kernel"], let systemd = seconds["systemd"], let button = seconds["button"] else {
        throw BenchmarkError("the image did not start; Tests/Image/boot_time.py shows the reason")
    }
    return [
        Figure("start of the kernel to the first program", kernel, "s"),
        Figure("from there to systemd", systemd - kernel, "s"),
        Figure("from the first program to a working button", button - kernel, "s", .atMost(4)),
    ]
}
