//! Spectra for people: in the terminal and as PNG, with the defect frequencies marked.
