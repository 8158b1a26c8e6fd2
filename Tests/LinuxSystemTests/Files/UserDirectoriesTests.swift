import Glibc
import Testing

@testable import LinuxSystem

struct UserDirectoriesTests {
    @Test("The home folder of a user is the one in the user database")
    func listedHome() {
        #expect(UserDirectories.home(of: 0) == String(cString: getpwuid(0).pointee.pw_dir))
    }

    @Test("A user without an entry has no home folder")
    func unlistedUser() { #expect(UserDirectories.home(of: 3_999_999_999) == nil) }

    @Test(
        "An error about the folders of a user without a home names HOME and --state", arguments: ["", "/.local/state"])
    func missingHome(_ path: String) {
        let error = FileError(.makeDirectory, UserDirectories.missingHome + path, .system(SystemError(EACCES)))
        #expect(error.hint?.contains("HOME") == true && error.hint?.contains("--state") == true)
    }
}
