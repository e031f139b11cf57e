extension ConsoleProgress {
    /// Shows the progress of a run's batch until the run is over. To wait for the run's value is the caller's.
    public func follow<Output>(_ run: Run<Output>) async {
        let scheduler = run.core.engine.scheduler
        for await progress in run.progress { show(progress.batch, at: scheduler.now) }
        finish(at: scheduler.now)
    }
}
