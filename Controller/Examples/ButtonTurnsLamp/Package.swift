// swift-tools-version: 6.2
import PackageDescription

// A separate package, like that of another project. Outside of this repository the first dependency is a URL.
let package = Package(
    name: "ButtonTurnsLamp",
    dependencies: [
        .package(name: "smartplug", path: "../../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ],
    targets: [
        .executableTarget(
            name: "ButtonTurnsLamp",
            dependencies: [
                .product(name: "PlugClient", package: "smartplug"), .product(name: "Logging", package: "swift-log"),
            ])
    ])
