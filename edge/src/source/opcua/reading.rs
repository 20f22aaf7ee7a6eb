//! Reads the value of a node: numbers, or the reason why it is not used.

use opcua::types::{DataValue, DateTime, StatusCode, Variant};

/// Most samples of an array: 20 s at 51.2 kHz. The client keeps 24 bytes for each while it reads
/// them.
pub(super) const MOST_SAMPLES: usize = 1 << 20;

/// Why a value is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// The word for it in the metric.
    pub(super) cause: &'static str,
    /// The content of the node, and what was expected.
    pub(super) why: String,
}

impl Fault {
    pub(super) fn new(cause: &'static str, why: impl Into<String>) -> Self {
        Self { cause, why: why.into() }
    }
}

/// Numbers of a node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbers {
    pub(super) values: Vec<f64>,
    /// They are whole numbers, which are often counts of a converter.
    pub(super) are_integers: bool,
}

/// The value, if its status is Good.
fn good(value: &DataValue) -> Result<&Variant, Fault> {
    let status = value.status();
    if !status.is_good() {
        let cause = if status.is_uncertain() { "uncertain" } else { "bad" };
        return Err(Fault::new(cause, status_text(status)));
    }
    match &value.value {
        None | Some(Variant::Empty) => Err(Fault::new("no_value", "has no value (null)")),
        Some(value) => Ok(value),
    }
}

/// A status with what is to be done about the usual ones.
fn status_text(status: StatusCode) -> String {
    let name = status.sub_code().to_string();
    let help = match name.as_str() {
        "BadNodeIdUnknown" | "BadNodeIdInvalid" => {
            ": the server has no such node; are namespace and name right?"
        }
        "BadUserAccessDenied" | "BadNotReadable" => ": this user may not read it",
        "BadWaitingForInitialData" => ": the server has not heard of its device yet",
        "BadAttributeIdInvalid" => ": the node is no variable",
        _ => "",
    };
    format!("has the status {status}{help}")
}

/// The one number of a node.
///
/// # Errors
/// The content of the node instead of a number.
pub(super) fn number(value: &DataValue) -> Result<f64, Fault> {
    let value = good(value)?;
    if let Some(number) = value.as_f64() {
        return Ok(number);
    }
    if let Variant::Array(array) = value {
        let length = array.values.len();
        return Err(Fault::new("type", format!("is an array of {length}, not one number")));
    }
    Err(Fault::new("type", format!("holds {}, not a number", kind(value))))
}

/// The samples of a node.
///
/// # Errors
/// The content of the node instead of samples.
pub(super) fn samples(value: &DataValue) -> Result<Numbers, Fault> {
    let refused = |why: String| Err(Fault::new("type", why));
    let held = good(value)?;
    let Variant::Array(array) = held else {
        return refused(if held.is_numeric() {
            "holds one number; samples are arrays of numbers".to_owned()
        } else {
            format!("holds {}, not an array of numbers", kind(held))
        });
    };
    let dimensions = array.dimensions.as_deref().unwrap_or_default();
    if dimensions.iter().filter(|length| **length > 1).count() > 1 {
        let texts: Vec<String> = dimensions.iter().map(ToString::to_string).collect();
        let shape = texts.join(" × ");
        return refused(format!("is a table of {shape}; samples are one array for each channel"));
    }
    if !(1..=MOST_SAMPLES).contains(&array.values.len()) {
        let length = array.values.len();
        return refused(format!("has {length} samples; allowed is 1 to {MOST_SAMPLES}"));
    }
    let mut values = Vec::with_capacity(array.values.len());
    for (at, value) in array.values.iter().enumerate() {
        let Some(number) = value.as_f64() else {
            return refused(format!("holds {} at place {at}, not a number", kind(value)));
        };
        values.push(number);
    }
    let is_float = |value: &Variant| matches!(value, Variant::Float(_) | Variant::Double(_));
    let are_integers = !array.values.first().is_some_and(is_float);
    Ok(Numbers { values, are_integers })
}

/// Returns when the source took the value, ms since 1970.
pub(super) fn source_time_ms(value: &DataValue) -> Option<u64> {
    let time = value.source_timestamp.as_ref().filter(|time| !time.is_null())?;
    u64::try_from(time.as_chrono().timestamp_millis()).ok()
}

/// Returns when the source took the value, else when the server did, ms since 1970.
pub(super) fn time_ms(value: &DataValue) -> Option<u64> {
    let stated = |time: &&DateTime| !time.is_null();
    let source = value.source_timestamp.as_ref().filter(stated);
    let time = source.or_else(|| value.server_timestamp.as_ref().filter(stated))?;
    u64::try_from(time.as_chrono().timestamp_millis()).ok()
}

const fn kind(value: &Variant) -> &'static str {
    match value {
        Variant::Empty => "nothing",
        Variant::Boolean(_) => "a Boolean",
        Variant::SByte(_)
        | Variant::Byte(_)
        | Variant::Int16(_)
        | Variant::UInt16(_)
        | Variant::Int32(_)
        | Variant::UInt32(_)
        | Variant::Int64(_)
        | Variant::UInt64(_) => "a whole number",
        Variant::Float(_) | Variant::Double(_) => "a float",
        Variant::String(_) | Variant::XmlElement(_) | Variant::LocalizedText(_) => "a text",
        Variant::DateTime(_) => "a time",
        Variant::ByteString(_) => "bytes",
        Variant::Guid(_)
        | Variant::StatusCode(_)
        | Variant::QualifiedName(_)
        | Variant::NodeId(_)
        | Variant::ExpandedNodeId(_) => "a name or code",
        Variant::ExtensionObject(_) | Variant::DataValue(_) | Variant::DiagnosticInfo(_) => {
            "a structure"
        }
        Variant::Variant(_) | Variant::Array(_) => "an array inside the array",
    }
}

#[cfg(test)]
mod tests {
    use opcua::types::Array;
    use opcua::types::VariantScalarTypeId as Type;

    use super::*;

    fn of(value: Variant) -> DataValue {
        DataValue::value_only(value)
    }

    fn array(of_type: Type, values: Vec<Variant>) -> Variant {
        Variant::Array(Box::new(Array { value_type: of_type, values, dimensions: None }))
    }

    #[test]
    fn samples_are_arrays_of_numbers_and_nothing_else() {
        let floats = array(Type::Float, vec![Variant::Float(1.5), Variant::Float(f32::NAN)]);
        let read = samples(&of(floats)).expect("samples");
        assert!(
            !read.are_integers && (read.values[0] - 1.5).abs() < 1e-9 && read.values[1].is_nan()
        );
        let integers = array(Type::Int16, vec![Variant::Int16(-3); 4]);
        assert!(samples(&of(integers)).expect("samples").are_integers);
        let mut table = Array {
            value_type: Type::Double,
            values: vec![Variant::Double(1.0); 6],
            dimensions: Some(vec![2, 3]),
        };
        let row = Array { dimensions: Some(vec![1, 6]), ..table.clone() };
        assert!(samples(&of(Variant::Array(Box::new(row)))).is_ok());
        let text = Variant::String("1.5".into());
        table.dimensions = Some(vec![2, 3]);
        for (value, expected) in [
            (Variant::Array(Box::new(table)), "a table of 2 × 3"),
            (array(Type::Double, Vec::new()), "has 0 samples"),
            (array(Type::String, vec![text.clone()]), "holds a text at place 0"),
            (array(Type::Boolean, vec![Variant::Boolean(true)]), "a Boolean at place 0"),
            (array(Type::Variant, vec![array(Type::Double, Vec::new())]), "array inside the array"),
            (text, "holds a text, not an array"),
            (Variant::Double(1.0), "holds one number"),
            (Variant::ByteString(vec![1u8].into()), "holds bytes"),
            (Variant::Empty, "null"),
        ] {
            let fault = samples(&of(value)).expect_err(expected);
            assert!(fault.why.contains(expected), "{expected}: {fault:?}");
        }
    }

    #[test]
    fn only_a_good_value_is_used() {
        for (status, cause) in [
            (StatusCode::BadSensorFailure, "bad"),
            (StatusCode::UncertainLastUsableValue, "uncertain"),
            (StatusCode::BadNodeIdUnknown, "bad"),
        ] {
            let value = DataValue { status: Some(status), ..of(Variant::Double(1.0)) };
            let fault = number(&value).expect_err("not good");
            assert_eq!(fault.cause, cause);
            assert!(fault.why.contains(&status.sub_code().to_string()), "{fault:?}");
        }
        assert_eq!(number(&of(Variant::Int32(7))), Ok(7.0));
        let fault =
            number(&of(array(Type::Double, vec![Variant::Double(1.0)]))).expect_err("array");
        assert!(fault.why.contains("not one number"), "{fault:?}");
    }
}
