//! Threads of its own for work that outsiders can ask for without end, such as the answers of a
//! server: however much is asked for, the threads of the remaining program are free, and the system
//! shares the processor between both.

use std::future::Future;
use std::io;

use tokio::runtime::{Builder, Runtime};

/// Returns how many threads of this kind a program takes: half of the processors, at least one.
pub fn half_of_processors() -> usize {
    std::thread::available_parallelism().map_or(1, |all| all.get().div_ceil(2))
}

/// The threads, which end with the work. A runtime that is dropped where another one runs would
/// wait for its tasks.
struct Threads(Option<Runtime>);

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Runs `work`, and what it spawns, on `threads` threads of their own that are called `name`;
/// returns when `work` ends, and ends it when it is dropped.
///
/// # Errors
/// If the threads cannot be started, or the work ended by a panic.
pub async fn on_own_threads<T: Send + 'static>(
    name: &str,
    threads: usize,
    work: impl Future<Output = T> + Send + 'static,
) -> io::Result<T> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads.max(1))
        .thread_name(name)
        .enable_all()
        .build()?;
    let done = runtime.spawn(work);
    let _threads = Threads(Some(runtime));
    done.await.map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier};
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn work_that_occupies_its_threads_delays_nothing_else() {
        let (begun, begins) = tokio::sync::oneshot::channel();
        let stop = Arc::new(Barrier::new(2));
        let stopped = Arc::clone(&stop);
        let busy = tokio::spawn(on_own_threads("busy", 1, async move {
            begun.send(std::thread::current().name().map(str::to_owned)).expect("awaited");
            stopped.wait();
            7
        }));
        // this test has one thread, which a busy task of its own runtime would take
        assert_eq!(begins.await.expect("begun").as_deref(), Some("busy"));
        tokio::time::sleep(Duration::from_millis(1)).await;
        stop.wait();
        assert_eq!(busy.await.expect("ended").expect("done"), 7);
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_ends_no_other_thread() {
        let work = async { assert!(half_of_processors() == 0, "told") };
        assert!(on_own_threads("panics", 1, work).await.is_err());
    }
}
