// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as yours would be. Outside of this repository the first dependency is a URL, not a path.
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
