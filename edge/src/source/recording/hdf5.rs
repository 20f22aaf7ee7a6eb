//! HDF5, and MATLAB's files of version 7.3, which are HDF5 with conventions of their own.
//!
//! Every dataset of numbers is a variable: `/run/acc`, in a MAT-file `bearing.gs`. Attributes of a
//! dataset, and scalars and texts beside it, state unit, rate and name. MATLAB keeps texts as
//! numbers with the class `char`, and the elements of cells and struct arrays as references into
//! `#refs#`; they are followed. Records (compound types) are columns with the names of their
//! fields.
//!
//! Invariants: the bytes of the file bound what is read; links in a circle end at a depth and at a
//! number of objects.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use hdf5_reader::group::Group;
use hdf5_reader::{Attribute, Dataset, Datatype, Hdf5File, OpenOptions};

use super::bounds::{MAX_SAMPLES, whole};
use super::guarded::guarded;
use super::leaves::{Leaf, LeafContent, stated_speed, stated_start, variables_of};
use super::repeats::{WordColumn, check_variables};
use super::variables::recording_of_variables;
use super::{RawRecording, SourceError};

mod decoded;

/// First bytes of the header that MATLAB writes before the HDF5 of version 7.3.
const MATLAB_MAGIC: &[u8] = b"MATLAB ";

/// Deepest nesting of groups.
const MAX_DEPTH: usize = 16;

/// Fewest texts that are a column beside numbers.
const LEAST_WORDS: usize = 16;

/// Most datasets and attributes.
const MAX_LEAVES: usize = 20_000;

/// Reads the whole file.
pub(super) fn open(
    path: &Path,
    file: impl Read,
    variable: Option<&str>,
) -> Result<RawRecording, SourceError> {
    let content = whole(path, file)?;
    let is_matlab = content.starts_with(MATLAB_MAGIC);
    let format = if is_matlab { "MAT version 7.3" } else { "HDF5 file" };
    let leaves = guarded(path, format, || {
        leaves_of(content, is_matlab).map_err(|what| {
            SourceError::malformed(path, format!("no {format} that is read: {what}"))
        })
    })?;
    let (speed, start) = (stated_speed(&leaves), stated_start(&leaves));
    let words = words_of(&leaves);
    let (variables, others) = variables_of(leaves);
    let told = check_variables(&variables, &words, variable.is_some())
        .map_err(|what| SourceError::options(path, what))?;
    let mut recording = recording_of_variables(path, format, variables, &others, variable)?;
    recording.notes.extend(speed.into_iter().chain(told));
    recording.start_at(start);
    Ok(recording)
}

/// The datasets of texts that may stand beside numbers, row by row.
fn words_of(leaves: &[Leaf]) -> Vec<WordColumn> {
    let of_leaf = |leaf: &Leaf| match &leaf.content {
        LeafContent::Text(lines) if lines.len() >= LEAST_WORDS => {
            let mut own = WordColumn { name: leaf.path.clone(), ..WordColumn::default() };
            for line in lines {
                own.take(line);
            }
            Some(own)
        }
        LeafContent::Text(_) | LeafContent::Numbers { .. } | LeafContent::Other(_) => None,
    };
    leaves.iter().filter_map(of_leaf).collect()
}

fn leaves_of(content: Vec<u8>, is_matlab: bool) -> Result<Vec<Leaf>, String> {
    let told = |error: hdf5_reader::error::Error| error.to_string();
    let options = OpenOptions::default()
        .with_chunk_cache_bytes(8 << 20)
        .with_max_chunk_bytes(8 * MAX_SAMPLES)
        .with_max_read_bytes(8 * MAX_SAMPLES)
        .with_max_object_header_bytes(1 << 20);
    let file = Hdf5File::from_vec_with_options(content, options).map_err(told)?;
    let root = file.root_group().map_err(told)?;
    let mut tree = Tree { is_matlab, referred: BTreeMap::new(), leaves: Vec::new(), numbers: 0 };
    if is_matlab && let Ok(refs) = root.group("#refs#") {
        let (groups, datasets) = refs.members().map_err(told)?;
        let groups = groups.into_iter().map(|group| (group.address(), Object::Group(group)));
        let datasets =
            datasets.into_iter().map(|data| (data.address(), Object::Data(Box::new(data))));
        tree.referred = groups.chain(datasets).collect();
    }
    tree.add_group(&root, "", 0)?;
    Ok(tree.leaves)
}

/// The object that a reference leads to.
#[derive(Clone)]
enum Object {
    Group(Group),
    Data(Box<Dataset>),
}

struct Tree {
    is_matlab: bool,
    /// The targets of references by their address.
    referred: BTreeMap<u64, Object>,
    leaves: Vec<Leaf>,
    numbers: usize,
}

impl Tree {
    fn push(&mut self, path: String, content: LeafContent) -> Result<(), String> {
        if self.leaves.len() == MAX_LEAVES {
            return Err(format!("more than {MAX_LEAVES} datasets, the most that is read"));
        }
        self.leaves.push(Leaf { path, content });
        Ok(())
    }

    fn joined(&self, path: &str, key: &str) -> String {
        match (self.is_matlab, path.is_empty()) {
            (true, true) => key.to_owned(),
            (true, false) => format!("{path}.{key}"),
            (false, _) => format!("{path}/{key}"),
        }
    }

    fn add_group(&mut self, group: &Group, path: &str, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("groups nested more than {MAX_DEPTH} deep"));
        }
        let (groups, datasets) = group.members().map_err(|e| format!("group {path:?}: {e}"))?;
        if !self.is_matlab {
            self.add_attributes(group.attributes().unwrap_or_default(), path)?;
        }
        for dataset in datasets {
            let place = self.joined(path, dataset.name());
            self.add_dataset(&dataset, place, depth)?;
        }
        // `_i_table` holds the index of a table of PyTables, no data
        let is_data = |name: &str| !name.starts_with('#') && !name.starts_with("_i_");
        for inner in groups.iter().filter(|inner| is_data(inner.name())) {
            self.add_group(inner, &self.joined(path, inner.name()), depth + 1)?;
        }
        Ok(())
    }

    fn add_attributes(&mut self, attributes: Vec<Attribute>, path: &str) -> Result<(), String> {
        for attribute in attributes {
            let place = self.joined(path, &attribute.name);
            if let Some(content) = decoded::attribute(&attribute) {
                self.push(place, content)?;
            }
        }
        Ok(())
    }

    fn add_dataset(&mut self, data: &Dataset, path: String, depth: usize) -> Result<(), String> {
        let attributes = data.attributes();
        let class = attributes.iter().find(|a| a.name == "MATLAB_class");
        let class = class.and_then(|class| class.read_string().ok()).unwrap_or_default();
        if matches!(data.dtype(), Datatype::Reference { .. }) {
            return self.follow(data, &path, class == "cell", depth);
        }
        if attributes.iter().any(|a| a.name == "MATLAB_empty") {
            return Ok(());
        }
        if !self.is_matlab {
            self.add_attributes(attributes, &path)?;
        }
        let count = usize::try_from(data.num_elements().unwrap_or(0)).unwrap_or(usize::MAX);
        self.numbers = self.numbers.saturating_add(count);
        if self.numbers > MAX_SAMPLES {
            return Err(format!("more than {MAX_SAMPLES} numbers, the most that is read"));
        }
        if class == "char" {
            let content = decoded::matlab_text(data).map_err(|e| format!("{path}: {e}"))?;
            return self.push(path, content);
        }
        for (name, content) in decoded::dataset(data).map_err(|e| format!("{path}: {e}"))? {
            let place = name.map_or_else(|| path.clone(), |name| self.joined(&path, &name));
            self.push(place, content)?;
        }
        Ok(())
    }

    /// Adds what the elements of a cell array or of a field of a struct array refer to.
    fn follow(
        &mut self,
        data: &Dataset,
        path: &str,
        is_cell: bool,
        depth: usize,
    ) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("cells nested more than {MAX_DEPTH} deep"));
        }
        let raw = data.read_raw_bytes().map_err(|e| format!("{path}: {e}"))?;
        for (index, address) in raw.chunks_exact(8).enumerate() {
            let mut bytes = [0u8; 8];
            bytes.copy_from_slice(address);
            let Some(object) = self.referred.get(&u64::from_le_bytes(bytes)).cloned() else {
                continue;
            };
            let place = match path.rsplit_once('.') {
                Some((array, field)) if !is_cell => format!("{array}({index}).{field}"),
                _ => format!("{path}{{{index}}}"),
            };
            match object {
                Object::Group(group) => self.add_group(&group, &place, depth + 1)?,
                Object::Data(data) => self.add_dataset(&data, place, depth + 1)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
