import Dispatch
import Foundation
import FuzzTargets

// libFuzzer supplies the main function and calls these two functions. Its own options are listed by -help=1.

/// The target named in SMARTPLUG_FUZZ_TARGET.
private let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["SMARTPLUG_FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget.named(name) else {
        let known = FuzzTarget.all.map(\.name).joined(separator: ", ")
        fatalError("SMARTPLUG_FUZZ_TARGET is '\(name)'; known targets: \(known)")
    }
    return target
}()

/// Writes the target's seeds to the folder in SMARTPLUG_FUZZ_SEEDS, if that is set.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_: UnsafePointer<CInt>, _: UnsafePointer<UnsafePointer<CChar>>) -> CInt {
    guard let folder = ProcessInfo.processInfo.environment["SMARTPLUG_FUZZ_SEEDS"] else { return 0 }
    for (index, seed) in target.seeds().enumerated() {
        do {
            try Data(seed).write(to: URL(filePath: folder).appending(path: "seed\(index)"))
        } catch {
            fatalError("a seed cannot be written to \(folder): \(error)")
        }
    }
    return 0
}

/// Runs one input; a violated invariant ends the process.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    let done = DispatchSemaphore(value: 0)
    // Some targets are asynchronous, so libFuzzer's thread waits for them.
    Task {
        do {
            _ = try await target.check(input)
        } catch {
            fatalError("\(target.name): \(error)")
        }
        done.signal()
    }
    done.wait()
    return 0
}
