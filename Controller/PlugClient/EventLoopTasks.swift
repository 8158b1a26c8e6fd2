package import NIOCore

/// Runs tasks on an event loop: `Task(executorPreference: EventLoopTasks(eventLoop)) { ... }`.
///
/// Swift resumes a suspended task on the executor that the task prefers, and otherwise on the threads of the default
/// executor, even if the task then continues in an actor of the event loop. A task with this preference stays on the
/// thread of its event loop, so actors of this event loop exchange values without a change of threads.
package final class EventLoopTasks: TaskExecutor {
    private let eventLoop: any EventLoop

    /// Creates an executor that runs tasks on the event loop.
    package init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Runs the job on the event loop, isolated to it like the actors whose executor is the event loop's.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute {
            job.runSynchronously(
                isolatedTo: self.eventLoop.executor.asUnownedSerialExecutor(),
                taskExecutor: self.asUnownedTaskExecutor())
        }
    }
}
