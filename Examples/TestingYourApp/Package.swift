// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "TestingYourApp",
    platforms: [.iOS(.v16), .macOS(.v13)],
    // In a package of your own, the URL of the repository and a version stand here.
    dependencies: [.package(name: "Baton", path: "../..")],
    targets: [
        .target(name: "Weather", dependencies: [.product(name: "Baton", package: "Baton")]),
        .testTarget(
            name: "WeatherTests", dependencies: ["Weather", .product(name: "BatonTesting", package: "Baton")]),
    ]
)
