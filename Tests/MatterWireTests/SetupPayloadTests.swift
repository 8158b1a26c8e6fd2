import MatterWire
import Testing

@Suite struct SetupPayloadTests {
    /// Payloads with the codes that the reference SDK generates for them.
    private static let vectors: [(MatterSetupPayload, String, String)] = [
        (
            MatterSetupPayload(
                passcode: 20_202_021, discriminator: 3840, vendor: 0xFFF1, product: 0x8000, discovery: .bluetooth),
            "MT:Y.K9042C00KA0648G00", "34970112332"
        ),
        (
            MatterSetupPayload(passcode: 20_202_021, discriminator: 3840, vendor: 0xFFF1, product: 0x8000),
            "MT:Y.K90AFN00KA0648G00", "34970112332"
        ),
        (
            MatterSetupPayload(passcode: 20_202_021, discriminator: 3840, vendor: 0xFFF1, product: 0x8001),
            "MT:-24J0AFN00KA0648G00", "34970112332"
        ),
        (
            MatterSetupPayload(passcode: 12_345_679, discriminator: 2560, vendor: 0xFFF1, product: 0x8001),
            "MT:-24J0AFN00EZG46Y900", "24129507533"
        ),
        (
            MatterSetupPayload(
                passcode: 99_999_998, discriminator: 4095, vendor: 0xFFF4, product: 0xFFFF,
                discovery: [.accessPoint, .bluetooth, .onNetwork]), "MT:6JS18FEN271DQ36B420", "35759861036"
        ),
        (
            MatterSetupPayload(passcode: 1, discriminator: 0, vendor: 1, product: 1),
            "MT:A3L90CQM00ID0000000", "00000100007"
        ),
        (
            MatterSetupPayload(passcode: 7_654_321, discriminator: 1234, vendor: 0xFFF1, product: 0x8005),
            "MT:6FCJ1Q1212ONUS45600", "10299304670"
        ),
    ]

    @Test("Codes are those of the reference SDK") func vectors() {
        for (payload, text, code) in Self.vectors {
            #expect(payload.qrText == text)
            #expect(payload.manualCode == code)
        }
    }

    @Test("Values that are too large lose their upper bits") func overflow() {
        #expect(
            MatterSetupPayload(passcode: .max, discriminator: .max, vendor: .max, product: .max)
                == MatterSetupPayload(passcode: 0x7FF_FFFF, discriminator: 0xFFF, vendor: .max, product: .max))
    }

    @Test("Trivial passcodes, 0 and passcodes of nine digits are not valid") func passcodes() {
        for passcode in [0, 11_111_111, 88_888_888, 99_999_999, 12_345_678, 87_654_321, 100_000_000, .max] as [UInt32] {
            #expect(!MatterSetupPayload.isValid(passcode: passcode))
        }
        for passcode in [1, 20_202_021, 11_111_112, 99_999_998] as [UInt32] {
            #expect(MatterSetupPayload.isValid(passcode: passcode))
        }
    }
}
