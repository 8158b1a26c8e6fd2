import Glibc
import LinuxSystem
import PlugHardware
import TestSupport
import Testing

@testable import LinuxDevices

@Suite struct DeviceFileTests {
    @Test("An attribute is read again each time, without surrounding white space")
    func anAttributeIsItsTextWithoutWhiteSpaceEachTimeAnew() throws {
        let folder = TestFolder()
        let file = FileAttribute(path: folder.path + "/power1_input")
        try folder.write(" 1234000\n", "power1_input")
        #expect(try file.read() == "1234000")
        try folder.write("\n", "power1_input")
        #expect(try file.read() == "")
        try folder.write("-5 W\n", "power1_input")
        #expect(try file.read() == "-5 W")
    }

    @Test("A missing attribute is reported") func anAttributeThatIsNotThereIsTold() throws {
        let folder = TestFolder()
        let error = #expect(throws: HardwareFault.self) { try FileAttribute(path: folder.path + "/in0_input").read() }
        #expect(
            try #require(error).description
                == "\(folder.path)/in0_input: it does not exist: is the driver loaded? (ls \(folder.path))")
    }

    @Test(
        "The error number of a failed transfer is translated to the reason of the bus fault",
        arguments: [
            (ENXIO, BusFault.Reason.noAcknowledge), (EREMOTEIO, .noAcknowledge), (ETIMEDOUT, .timedOut),
            (EAGAIN, .arbitrationLost), (EIO, .other("input/output error")),
        ])
    func errorNumbersOfATransferMeanWhatTheKernelSays(number: Int32, reason: BusFault.Reason) {
        #expect(I2CDevice.reason(SystemError(number)) == reason)
    }

    @Test("A missing bus is reported at each transfer") func aBusThatIsNotThereIsToldAtEachTransfer() throws {
        let bus = I2CDevice(path: "/dev/i2c-99")
        let fault = #expect(throws: HardwareFault.self) { try bus.check() }
        #expect(try #require(fault).description.contains("dtparam=i2c_arm=on"))
        for _ in 1...2 {
            let error = #expect(throws: BusFault.self) { try bus.transfer(to: 0x40, write: [0], read: 2) }
            #expect(try #require(error).address == 0x40)
            #expect(try #require(error).description.contains("there is no bus /dev/i2c-99"))
        }
    }

    @Test("The error for a bus without permission names the group") func aBusThatMayNotBeOpenedNamesTheGroup() {
        #expect(I2CDevice(path: "/dev/i2c-1").reason(SystemError(EACCES)).contains("group i2c"))
    }

    @Test("A file that is not a bus is reported") func aFileThatIsNoBusIsTold() throws {
        let fault = #expect(throws: HardwareFault.self) { try I2CDevice(path: "/dev/null").check() }
        #expect(try #require(fault).description.contains("/dev/null is not an I²C bus"))
    }
}
