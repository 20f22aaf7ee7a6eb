//! From a window to its time and frequency domain: the bridge to `pdm-dsp`.
