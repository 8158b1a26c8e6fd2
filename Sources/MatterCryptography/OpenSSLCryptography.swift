internal import COpenSSL
public import MatterSessions
public import MatterWire

/// The cryptographic operations of Matter by OpenSSL's libcrypto. The first call of ``init()`` loads the library.
public struct OpenSSLCryptography: MatterCryptography {
    /// The limit of PBKDF2's iterations. It protects the plug's processor; Matter allows at most 100,000.
    public static let iterationLimit = 1_000_000

    /// Loads the library.
    ///
    /// - Throws: `MatterError.cryptography` if libcrypto cannot be loaded.
    public init() throws(MatterError) {
        if let fault = smartplug_openssl_load() {
            throw .cryptography("OpenSSL cannot be loaded: \(String(cString: fault))\nhint: install libssl3")
        }
    }

    /// Encrypts with AES-128-CCM. See `MatterCryptography`.
    public func seal(
        _ plaintext: [UInt8], key: [UInt8], nonce: [UInt8], authenticating data: [UInt8]
    ) throws(MatterError) -> [UInt8] {
        try Self.result(
            count: plaintext.count + CryptographyLengths.tag, key, nonce, data, plaintext,
            or: .cryptography("AES-CCM: the lengths of key, nonce or message are not valid")
        ) { smartplug_ccm_seal($0, $1, $2, $3, $4) }
    }

    /// Decrypts with AES-128-CCM. See `MatterCryptography`.
    public func open(
        _ ciphertext: [UInt8], key: [UInt8], nonce: [UInt8], authenticating data: [UInt8]
    ) throws(MatterError) -> [UInt8] {
        try Self.result(
            count: max(0, ciphertext.count - CryptographyLengths.tag), key, nonce, data, ciphertext,
            or: .notAuthentic("AES-CCM: the tag does not match")
        ) { smartplug_ccm_open($0, $1, $2, $3, $4) }
    }

    /// Derives bytes with PBKDF2 and HMAC-SHA256. The count is at most 1,024.
    public func stretch(
        _ secret: [UInt8], salt: [UInt8], iterations: Int, count: Int
    ) throws(MatterError) -> [UInt8] {
        let fault = MatterError.cryptography("PBKDF2: the iterations or the length are not valid")
        guard (1...Self.iterationLimit).contains(iterations), count >= 0 else { throw fault }
        return try Self.result(count: count, secret, salt, [], [], or: fault) { secret, salt, _, _, place in
            smartplug_stretch(secret, salt, Int32(iterations), count, place)
        }
    }

    /// Returns a number modulo the order of P-256.
    public func reduce(_ number: [UInt8]) throws(MatterError) -> [UInt8] {
        try Self.result(
            count: CryptographyLengths.scalar, number, [], [], [],
            or: .cryptography("P-256: a number has more than 64 bytes")
        ) { number, _, _, _, place in smartplug_p256_reduce(number, place) }
    }

    /// Multiplies a point, or the generator if the point is nil.
    public func multiply(_ point: [UInt8]?, by scalar: [UInt8]) throws(MatterError) -> [UInt8] {
        if let point, point.isEmpty { throw Self.invalidPoint }
        return try Self.result(
            count: CryptographyLengths.point, point ?? [], scalar, [], [], or: Self.invalidPoint
        ) { bytes, scalar, _, _, place in
            smartplug_p256_multiply(
                point == nil ? smartplug_bytes(bytes: nil, count: 0) : bytes, scalar, place)
        }
    }

    /// Adds two points.
    public func add(_ left: [UInt8], _ right: [UInt8]) throws(MatterError) -> [UInt8] {
        try combine(left, right, subtracts: false)
    }

    /// Subtracts the right point from the left one.
    public func subtract(_ left: [UInt8], _ right: [UInt8]) throws(MatterError) -> [UInt8] {
        try combine(left, right, subtracts: true)
    }

    private static let invalidPoint = MatterError.cryptography(
        "P-256: a point is not on the curve, or the result is the point at infinity")

    private func combine(_ left: [UInt8], _ right: [UInt8], subtracts: Bool) throws(MatterError) -> [UInt8] {
        try Self.result(count: CryptographyLengths.point, left, right, [], [], or: Self.invalidPoint) {
            left, right, _, _, place in smartplug_p256_add(left, right, subtracts, place)
        }
    }

    private typealias Operation = (
        smartplug_bytes, smartplug_bytes, smartplug_bytes, smartplug_bytes, UnsafeMutablePointer<UInt8>
    ) -> Bool

    /// Calls a function with four inputs and room for `count` bytes, and throws the fault if the function fails.
    private static func result(
        count: Int, _ first: [UInt8], _ second: [UInt8], _ third: [UInt8], _ fourth: [UInt8], or fault: MatterError,
        _ operation: Operation
    ) throws(MatterError) -> [UInt8] {
        var isDone = false
        let bytes = withBytes(first) { first in
            withBytes(second) { second in
                withBytes(third) { third in
                    withBytes(fourth) { fourth in
                        // One byte more than needed, because an empty result also needs a place.
                        [UInt8](unsafeUninitializedCapacity: count + 1) { room, written in
                            guard let place = room.baseAddress else { return }
                            isDone = operation(first, second, third, fourth, place)
                            written = isDone ? count : 0
                        }
                    }
                }
            }
        }
        guard isDone else { throw fault }
        return bytes
    }

    private static func withBytes(_ bytes: [UInt8], _ body: (smartplug_bytes) -> [UInt8]) -> [UInt8] {
        bytes.withUnsafeBufferPointer { body(smartplug_bytes(bytes: $0.baseAddress, count: $0.count)) }
    }
}
