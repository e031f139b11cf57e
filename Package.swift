// swift-tools-version: 6.1
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

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
        .executableTarget(
            name: "quickstart", dependencies: ["Baton", "BatonTesting"], path: "Examples/Quickstart",
            exclude: ["README.md"], swiftSettings: strict),
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
