//! Random operations against a model in memory: the spool and the model always agree.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{batch, open, receipt, sequences, settings};

#[derive(Debug, Clone)]
enum ModelStep {
    Commit(u64),
    Acknowledge(Vec<u64>),
    Receipt { through: u64, missing: Option<(u64, u64)> },
    Park(u64),
    Reopen,
}

fn step() -> impl Strategy<Value = ModelStep> {
    let number = 1_u64..40;
    prop_oneof![
        3 => (1_u64..6).prop_map(ModelStep::Commit),
        3 => prop::collection::vec(number.clone(), 1..6).prop_map(ModelStep::Acknowledge),
        2 => (number.clone(), prop::option::of((number.clone(), 0_u64..4)))
            .prop_map(|(through, missing)| ModelStep::Receipt {
                through,
                // a gap lies above what is stored
                missing: missing.map(|(above, more)| (through + above, more)),
            }),
        1 => number.prop_map(ModelStep::Park),
        1 => Just(ModelStep::Reopen),
    ]
}

/// The state of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Acknowledged,
    Parked,
}

#[derive(Debug, Default)]
struct Model {
    rows: BTreeMap<u64, State>,
    last: u64,
    stored: u64,
}

impl Model {
    fn apply(&mut self, step: &ModelStep) {
        match step {
            ModelStep::Commit(count) => {
                for sequence in self.last + 1..=self.last + count {
                    self.rows.insert(sequence, State::Waiting);
                }
                self.last += count;
            }
            ModelStep::Acknowledge(list) => {
                for sequence in list {
                    if *sequence <= self.stored {
                        self.rows.remove(sequence);
                    } else if let Some(state) = self.rows.get_mut(sequence)
                        && *state == State::Waiting
                    {
                        *state = State::Acknowledged;
                    }
                }
            }
            ModelStep::Receipt { through, .. } if *through > self.last => {}
            ModelStep::Receipt { through, missing } => {
                let given_out = self.last;
                self.stored = *through;
                let is_missing = |sequence: u64| {
                    missing.is_some_and(|(first, more)| {
                        (first..=(first + more).min(given_out)).contains(&sequence)
                    })
                };
                self.rows.retain(|sequence, state| {
                    *state != State::Acknowledged || sequence > through || is_missing(*sequence)
                });
                for (sequence, state) in &mut self.rows {
                    if *state == State::Acknowledged && is_missing(*sequence) {
                        *state = State::Waiting;
                    }
                }
            }
            ModelStep::Park(sequence) => {
                if let Some(state) = self.rows.get_mut(sequence) {
                    *state = State::Parked;
                }
            }
            ModelStep::Reopen => {
                for state in self.rows.values_mut().filter(|state| **state == State::Parked) {
                    *state = State::Waiting;
                }
            }
        }
    }

    fn count(&self, wanted: State) -> u64 {
        self.rows.values().filter(|state| **state == wanted).count() as u64
    }
}

async fn agree(steps: Vec<ModelStep>) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().expect("folder");
    let mut spool = open(settings(folder.path())).await;
    let mut model = Model::default();
    for step in steps {
        model.apply(&step);
        match &step {
            ModelStep::Commit(count) => {
                spool.commit(&mut batch(*count)).await.expect("commits");
            }
            ModelStep::Acknowledge(list) => spool.acknowledge(list).await.expect("acknowledges"),
            ModelStep::Receipt { through, missing } => {
                let gaps: Vec<[u64; 2]> =
                    missing.iter().map(|(first, more)| [*first, first + more]).collect();
                spool.apply(&receipt(*through, &gaps)).await.expect("applies");
            }
            ModelStep::Park(sequence) => spool.park(*sequence).await.expect("parks"),
            ModelStep::Reopen => {
                spool.close().await;
                drop(spool);
                spool = open(settings(folder.path())).await;
            }
        }
        let waiting: Vec<u64> = model
            .rows
            .iter()
            .filter(|(_, state)| **state == State::Waiting)
            .map(|(sequence, _)| *sequence)
            .collect();
        prop_assert_eq!(sequences(&spool).await, waiting, "after {:?}", step);
        let tally = spool.tally().await.expect("reads");
        prop_assert_eq!(tally.waiting, model.count(State::Waiting));
        prop_assert_eq!(tally.acknowledged, model.count(State::Acknowledged));
        prop_assert_eq!(tally.parked, model.count(State::Parked));
        prop_assert_eq!((tally.last_sequence, tally.stored_through), (model.last, model.stored));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_spool_and_its_model_agree_after_every_step(
        steps in prop::collection::vec(step(), 1..30),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("runtime").block_on(agree(steps))?;
    }
}
