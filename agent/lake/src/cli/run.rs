//! `pdm-lake run`: closed days as they come.

use std::time::Duration;

use pdm_service::exit::Exit;
use pdm_service::shutdown;

use super::export::{all_days, begin};
use super::{ArchiverArgs, LakeArgs, StoreArgs};
use crate::error::LakeError;

mod told;

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    lake: LakeArgs,
    #[command(flatten)]
    archiver: ArchiverArgs,
    /// A day is closed so many seconds after its end
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    settle_s: u64,
    /// Seconds from one look at the store to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 600,
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    every_s: u64,
    /// Write metrics in Prometheus' text form into this file after each look, for a collector of
    /// text files
    #[arg(long, value_name = "FILE")]
    metrics_file: Option<std::path::PathBuf>,
}

pub(super) async fn run(options: &Options) -> anyhow::Result<Exit> {
    let stop = shutdown::on_signal()?;
    let every = Duration::from_secs(options.every_s);
    let mut told = told::Told::new(options.metrics_file.clone());
    let mut args = options.archiver;
    loop {
        let looked = look(options, args, &stop, &mut told).await;
        // the place is taken once, not from whoever takes it over later
        args.take_over = false;
        match looked {
            Ok(()) => told.note_success(),
            Err(error) => {
                let known = error.downcast_ref::<LakeError>();
                if !known.is_none_or(LakeError::may_pass) {
                    return Err(error);
                }
                tracing::error!(%error, again_in_s = options.every_s, "nothing is archived");
                told.note_failure();
            }
        }
        told.write()?;
        tokio::select! {
            () = stop.cancelled() => return Ok(Exit::Ok),
            () = tokio::time::sleep(every) => {}
        }
    }
}

/// One look at the store. The turn is taken for each, so that a second archiver beside this one can
/// be the one that goes on when this one is gone.
async fn look(
    options: &Options,
    args: ArchiverArgs,
    stop: &tokio_util::sync::CancellationToken,
    told: &mut told::Told,
) -> anyhow::Result<()> {
    let source = options.store.open().await?;
    let place = options.lake.make()?;
    let archiver = begin(&place, &source, args, stop.clone()).await?;
    let done = all_days(&archiver, source, None, options.settle_s, |done, seconds| {
        let rows: u64 = done.rows.values().sum();
        tracing::info!(
            day = done.day,
            rows,
            bytes = done.bytes,
            seconds,
            marked = done.marked,
            "archived"
        );
        told.note_day(done);
        Ok(())
    })
    .await;
    let ended = archiver.turn.end().await;
    done?;
    ended?;
    Ok(())
}
