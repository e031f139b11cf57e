// swift-tools-version: 6.1
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// An example: a program in a folder of its own.
func example(_ name: String, _ folder: String, exclude: [String] = []) -> Target {
    .executableTarget(
        name: name, dependencies: ["Baton", "BatonTesting"], path: "Examples/\(folder)",
        exclude: ["README.md"] + exclude, swiftSettings: strict)
}

let package = Package(
    name: "Baton",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Baton", targets: ["Baton"]),
        .library(name: "BatonTesting", targets: ["BatonTesting"]),
        .executable(name: "quickstart", targets: ["quickstart"]),
    ],
    targets: [
        .target(name: "CBatonCurl"),
        .target(name: "Baton", dependencies: ["CBatonCurl"], swiftSettings: strict),
        .target(name: "BatonTesting", dependencies: ["Baton"], swiftSettings: strict),
        example("quickstart", "Quickstart"),
        example("login-chain", "LoginChain"),
        example("thumbnail-batch", "ThumbnailBatch"),
        example("crawler", "Crawler"),
        example("poller", "Poller"),
        example("custom-transport", "CustomTransport"),
        example("http", "CommandLine", exclude: ["chain.json"]),
        .target(name: "BenchmarkPeers", path: "Tests/BenchmarkPeers"),
        .executableTarget(
            name: "baton-benchmarks", dependencies: ["Baton", "BatonTesting", "BenchmarkPeers"],
            path: "Tests/Benchmarks",
            swiftSettings: strict),
        .testTarget(name: "BatonTests", dependencies: ["Baton", "BatonTesting"], swiftSettings: strict),
        .testTarget(
            name: "BatonTestingTests", dependencies: ["Baton", "BatonTesting"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
