import AddressService
import Testing

@Suite("Addressing mode")
struct AddressingModeTests {
    @Test("The modes are named manage, observe and auto")
    func words() {
        #expect(AddressingMode.allCases.map(\.rawValue) == ["manage", "observe", "auto"])
    }
}
