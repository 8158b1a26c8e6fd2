import AddressService
import Testing

@Suite("Addressing mode")
struct AddressingModeTests {
    @Test("The mode has three names")
    func words() {
        #expect(AddressingMode.allCases.map(\.rawValue) == ["manage", "observe", "auto"])
    }
}
