//! Signal science of rolling bearings: pure functions of samples, no clock, no files, no runtime.
