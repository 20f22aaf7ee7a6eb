//! The look-ups that a question can ask for, and which of two look-ups replaces the other.

/// One thing that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::chat) enum Lookup {
    /// The state of every bearing.
    Fleet,
    /// Which site is worse off.
    Sites,
    /// Which bearings are to be stopped.
    Stops,
    /// Which machines stand still.
    Standing,
    /// How many bearings there are.
    Count,
    /// Which bearings are sound.
    Sound,
    /// Which alarms stand.
    Alarms,
    /// How many alarms staff was told of in some time.
    AlarmCounts,
    /// How many judgements were right and wrong by what staff found.
    Verdicts,
    /// The conditions for each level of risk.
    Thresholds,
    /// The limits of velocity for a class of machines.
    ZoneLimits,
    /// The open work whose time ends next.
    DueNext,
    /// Who has the work of the bearing.
    Assigned,
    /// How a bearing is replaced, in order.
    Replacement,
    /// Something that no record of a plant holds.
    OutOfScope,
    /// A question that was not understood.
    NotRead,
    /// Which bearings are no longer measured, or whether one is.
    Heard,
    /// Which bearings are in a zone.
    Zones,
    /// The messages that staff was sent about any bearing.
    ToldOfAll,
    /// The open work of all bearings.
    WorkOfAll,
    /// The open work whose time is over.
    Overdue,
    /// Alarms that are put off: of the bearing, or all.
    Shelf,
    /// Sensors that cannot be judged.
    Sensors,
    /// The notes on the bearing.
    Notes,
    /// The notes on any bearing.
    NotesOfAll,
    /// The lines of the bearing's elements in the last spectrum.
    Lines,
    /// Two bearings beside each other.
    Compare,
    /// The state of the bearing.
    State,
    /// The grounds of its judgement.
    Why,
    /// The time since which it is abnormal.
    Onset,
    /// The changes of the bearing.
    Changes,
    /// Whether it may go on running.
    Stop,
    /// How certain its judgement is.
    Doubts,
    /// Figures of its last window, or of the days that the clause names.
    Figures,
    /// Its shaft speed.
    Speed,
    /// The bearing's type, and its place.
    Identity,
    /// Something that is not measured.
    Unmeasured,
    /// Its remaining life.
    Life,
    /// The work that is asked for.
    Work,
    /// Whether a spare is there.
    Stock,
    /// The time that parts and planning take.
    LeadTime,
    /// How long a replacement takes, and how many people.
    ReplaceTime,
    /// The messages that staff was sent.
    Told,
    /// Its earlier judgements.
    Past,
    /// Who is on duty.
    Duty,
    /// Who is told of an alarm, and who next.
    Route,
    /// The records of a person.
    Person,
    /// What a shift takes over.
    Handover,
    /// Which gateways report.
    Gateways,
    /// The meaning of a word.
    Meaning,
    /// A value of the manual for mounting.
    Value,
    /// Manuals and procedures.
    Manual,
    /// What a document or rule of the plant itself says.
    Own,
    /// Manuals, by words that do not say what is asked for.
    Search,
    /// Past cases.
    Cases,
    /// Which bearing is meant: the question needs one, and several stand.
    Which,
    /// Something that is to be done, which the chat does not do.
    Act,
    /// The questions that can be asked.
    Help,
    /// How these programs work.
    Program,
}

impl Lookup {
    /// Whether the look-up reads documents alone.
    pub(in crate::chat) const fn is_of_documents(self) -> bool {
        matches!(
            self,
            Self::Meaning
                | Self::Value
                | Self::Manual
                | Self::Own
                | Self::Search
                | Self::Cases
                | Self::ReplaceTime
                | Self::Replacement
                | Self::ZoneLimits
                | Self::Thresholds
                | Self::OutOfScope
                | Self::NotRead
                | Self::Act
                | Self::Program
                | Self::Help
        )
    }

    /// Whether the look-up is about one bearing.
    pub(in crate::chat) const fn is_of_bearing(self) -> bool {
        matches!(
            self,
            Self::State
                | Self::Why
                | Self::Onset
                | Self::Changes
                | Self::Stop
                | Self::Doubts
                | Self::Figures
                | Self::Speed
                | Self::Identity
                | Self::Life
                | Self::Work
                | Self::Stock
                | Self::Told
                | Self::Past
                | Self::Notes
                | Self::Lines
        )
    }
}

/// Leaves out what something more precise stands for.
pub(super) fn precise(mut asked: Vec<Lookup>) -> Vec<Lookup> {
    use Lookup as L;
    const OVER: [(Lookup, &[Lookup]); 31] = [
        (
            L::Value,
            &[L::Manual, L::Work, L::State, L::Life, L::Changes, L::Doubts, L::Meaning, L::Onset],
        ),
        (L::Overdue, &[L::Work, L::WorkOfAll, L::Fleet, L::State, L::Alarms, L::Told, L::Figures]),
        (L::Notes, &[L::State, L::Told, L::Doubts, L::Manual, L::Cases, L::Alarms, L::Past]),
        (L::Shelf, &[L::Told, L::State, L::Alarms, L::Fleet, L::Why, L::Life, L::Manual, L::Onset]),
        (L::Sensors, &[L::State, L::Fleet, L::Told, L::ToldOfAll, L::Alarms, L::Doubts, L::Sound]),
        (L::LeadTime, &[L::Work, L::WorkOfAll, L::State, L::Life, L::Stop, L::Meaning, L::Manual]),
        (L::Lines, &[L::State, L::Figures, L::Meaning, L::Manual, L::Fleet]),
        (L::Standing, &[L::Stop, L::State, L::Fleet, L::Heard, L::Manual]),
        (L::Past, &[L::State, L::Changes, L::Alarms, L::Told]),
        (L::Cases, &[L::ToldOfAll]),
        (L::Unmeasured, &[L::State, L::Figures, L::Value, L::Changes, L::Manual, L::Fleet]),
        (L::Changes, &[L::Figures, L::Past]),
        (L::Onset, &[L::Past, L::Told, L::Changes, L::Life, L::Heard, L::State, L::Alarms]),
        (L::Compare, &[L::Figures]),
        (L::Figures, &[L::State, L::Manual, L::Meaning, L::Fleet]),
        (L::Zones, &[L::Fleet, L::State, L::Manual, L::Meaning, L::Figures]),
        (L::Identity, &[L::State, L::Fleet, L::Meaning, L::Manual, L::Figures]),
        (L::Meaning, &[L::Manual, L::State, L::Work, L::Fleet, L::Value, L::Past, L::Stop]),
        (L::Duty, &[L::Fleet, L::Told, L::ToldOfAll, L::Stop, L::Manual, L::Work]),
        (L::Gateways, &[L::State, L::Fleet, L::Told, L::Stop, L::Manual, L::Heard, L::Why]),
        (L::Heard, &[L::State, L::Fleet, L::Manual, L::Why, L::Past, L::Told, L::Figures, L::Stop]),
        (L::Count, &[L::State, L::Fleet, L::Life, L::Changes]),
        (L::Alarms, &[L::State, L::Fleet, L::Told, L::ToldOfAll, L::Changes, L::Count, L::Work]),
        (L::Sound, &[L::State, L::Fleet, L::Manual, L::Told, L::ToldOfAll, L::Alarms]),
        (L::Compare, &[L::State, L::Fleet, L::Changes, L::Why]),
        (L::Fleet, &[L::State]),
        (L::Stop, &[L::State, L::Life, L::Work, L::Manual]),
        (L::Cases, &[L::Past, L::State, L::Why, L::Manual]),
        (L::Manual, &[L::Work, L::Past]),
        (L::Told, &[L::State]),
        (L::ToldOfAll, &[L::State, L::Fleet, L::Changes]),
    ];
    for (precise, others) in OVER {
        if asked.contains(&precise) {
            asked.retain(|one| !others.contains(one));
        }
    }
    if asked.len() > 1 {
        asked.retain(|one| *one != Lookup::Help);
    }
    asked
}
