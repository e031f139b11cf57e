#if canImport(ObjectiveC)
    internal import ObjectiveC

    extension CancellationScope {
        /// The scope that belongs to an object: what was started in it stops when the object is deallocated.
        ///
        /// ```swift
        /// client.start(GetProfile(), in: .bound(to: self)) { … }
        /// ```
        /// The same object has the same scope each time.
        public static func bound(to object: AnyObject) -> CancellationScope {
            // A selector is a name with one address in the process, which is what a key has to be.
            let key = unsafeBitCast(sel_registerName("baton_cancellationScope"), to: UnsafeRawPointer.self)
            objc_sync_enter(object)
            defer { objc_sync_exit(object) }
            if let scope = objc_getAssociatedObject(object, key) as? CancellationScope { return scope }
            let scope = CancellationScope()
            objc_setAssociatedObject(object, key, scope, .OBJC_ASSOCIATION_RETAIN)
            return scope
        }
    }
#endif
