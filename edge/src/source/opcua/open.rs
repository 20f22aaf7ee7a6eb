//! Opening a source of an OPC UA server: its name, and which of both kinds it is.

use std::io;
use std::path::{Path, PathBuf};

use super::arrays::Arrays;
use super::polls::Polls;
use super::{OpcuaContent, OpcuaSettings, log};
use crate::source::{Source, SourceError, SourceHost};

/// Samples or values of a server, which is connected at the first [`Source::next_block`].
///
/// # Errors
/// [`SourceError::Options`] if the period or the form is not valid.
pub fn open_opcua(
    settings: &OpcuaSettings,
    host: &SourceHost,
) -> Result<Box<dyn Source>, SourceError> {
    let name = PathBuf::from(&settings.server.endpoint);
    let server = settings.server.clone();
    match &settings.content {
        OpcuaContent::Values { values, every } => {
            Ok(Box::new(Polls::new(name, server, values.clone(), *every, host.clone())?))
        }
        OpcuaContent::Samples { form, format, rate_tolerance, silence } => {
            let wanted = (form.clone(), format.clone(), *rate_tolerance, *silence);
            Ok(Box::new(Arrays::new(name, server, wanted, host.clone())?))
        }
    }
}

/// The error of a source that is lost: counted, logged once, remarked.
pub(super) fn lost(
    name: &Path,
    host: &SourceHost,
    (cause, why): (&'static str, String),
    is_told: bool,
) -> SourceError {
    log::not_used(host, cause, &format!("the OPC UA server is not read: {why}"), is_told);
    SourceError::Io { path: name.to_owned(), source: io::Error::other(why) }
}
