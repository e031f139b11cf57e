import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Contracts of stores") struct StoreContractTests {
    @Test("MemoryCacheStore keeps the contract")
    func memory() async {
        let report = await CacheStoreContract { MemoryCacheStore() }.run()
        #expect(report.failures.isEmpty, "\(report)")
        #expect(report.passed == CacheStoreContract.checks)
    }

    @Test("DiskCacheStore keeps the contract")
    func disk() async {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let report = await CacheStoreContract {
            DiskCacheStore(directory: folder.appendingPathComponent(UUID().uuidString))
        }.run()
        #expect(report.failures.isEmpty, "\(report)")
        #expect(report.passed == CacheStoreContract.checks)
    }

    @Test("InMemoryCredentialStore keeps the contract")
    func credentials() async {
        let full = BearerToken("a", refreshToken: "r", expiry: Date(timeIntervalSince1970: 7))
        let report = await CredentialStoreContract(full, BearerToken("b")) { InMemoryCredentialStore() }.run()
        #expect(report.failures.isEmpty, "\(report)")
        #expect(report.passed.count == 5)
    }

    /// Breaks one rule.
    fileprivate struct Broken: CacheStore {
        enum Fault: String, CaseIterable { case forgets, mixesUp, ignoresURL, growsOnly, throwsAlways, cutsOff }

        let fault: Fault
        let store = MemoryCacheStore()

        func read(_ key: CacheKey) throws -> CacheEntry? {
            if fault == .throwsAlways { throw BatonError(.transportFailed, "the disk is gone") }
            return store.read(key)
        }
        func write(_ entry: CacheEntry, for key: CacheKey) throws -> Int {
            var entry = entry
            let body = entry.response?.body ?? Data()
            if fault == .cutsOff { entry.response?.body = body.prefix(1_000) }
            return fault == .forgets ? 0 : store.write(entry, for: key)
        }
        func remove(_ key: CacheKey) { fault == .mixesUp ? store.removeAll() : store.remove(key) }
        func remove(url: String) -> Bool { fault == .ignoresURL ? false : store.remove(url: url) }
        func removeAll() { store.removeAll() }
        func size() -> Int { fault == .growsOnly ? 1 << 20 : store.size() }
    }

    @Test("A store that breaks a rule fails the checks", arguments: Broken.Fault.allCases)
    fileprivate func broken(_ fault: Broken.Fault) async {
        let report = await CacheStoreContract { Broken(fault: fault) }.run()
        #expect(!report.failures.isEmpty, "\(report)")
    }

    /// Never forgets.
    private final class Sticky: CredentialStore {
        let store = InMemoryCredentialStore<BearerToken>()
        func read() -> BearerToken? { store.read() }
        func write(_ credential: BearerToken?) { if let credential { store.write(credential) } }
    }

    @Test("A credential that cannot be removed is found, and no report shows it")
    func sticky() async {
        let report = await CredentialStoreContract(BearerToken("S3CRET"), BearerToken("b")) { Sticky() }.run()
        #expect(report.failures.count == 1)
        #expect(!"\(report)".contains("S3CRET"))
        let unmade = await CredentialStoreContract(BearerToken("a"), BearerToken("b")) {
            throw BatonError(.unsupported, "no keychain")
        }.run()
        #expect(unmade.failures.count == 5)
    }
}
