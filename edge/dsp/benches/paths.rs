//! Time and memory of both paths: the fast one against the bare transforms it needs, in one run.
//!
//! `cargo bench -p pdm-dsp`. Channels a core at 25.6 kHz: windows of 25,600 samples a second, hence
//! the reciprocal of the fast path's median. Allocations are counted by divan's profiler.

use divan::{AllocProfiler, Bencher};
use pdm_dsp::{DefectOrders, FastPath, Request, diagnose};
use pdm_shared::units::{Band, Rpm, SampleRate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use realfft::RealFftPlanner;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex32;

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

/// Samples of a one-second window.
const LENGTHS: [usize; 2] = [20_480, 25_600];
/// Envelope band of the fast path, Hz.
const BAND_HZ: (f64, f64) = (2_500.0, 8_000.0);

fn main() {
    divan::main();
}

fn noise(n: usize) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn machine() -> (Rpm, DefectOrders) {
    let speed = Rpm::new(1797.0).expect("valid");
    (speed, DefectOrders::new(3.5848, 5.4152, 2.3567, 0.3983).expect("valid"))
}

#[divan::bench(args = LENGTHS)]
fn fast_path(bencher: Bencher, n: usize) {
    let window: Vec<f32> = noise(n).iter().map(|x| *x as f32).collect();
    let rate = SampleRate::new(n as f64).expect("valid");
    let band = Band::new(BAND_HZ.0, BAND_HZ.1).expect("valid");
    let mut path = FastPath::new(n, rate, band).expect("fits");
    let (speed, orders) = machine();
    bencher.bench_local(|| path.measure(divan::black_box(&window), speed, &orders));
}

/// Runs the same transforms with nothing around them: window, band back to time, envelope.
#[divan::bench(args = LENGTHS)]
fn bare_transforms(bencher: Bencher, n: usize) {
    let mut real = RealFftPlanner::<f32>::new();
    // As the fast path: the band at twice its width, grown to a fast length.
    let width = (BAND_HZ.1 - BAND_HZ.0) as usize + 1;
    let length = pdm_dsp::transform::fast_length_at_least(2 * width);
    let forward = real.plan_fft_forward(n);
    let envelope = real.plan_fft_forward(length);
    let inverse = FftPlanner::<f32>::new().plan_fft_inverse(length);
    let samples: Vec<f32> = noise(n).iter().map(|x| *x as f32).collect();
    let (mut a, mut b) = (samples.clone(), samples[..length].to_vec());
    let mut lines = forward.make_output_vec();
    let mut envelope_lines = envelope.make_output_vec();
    let mut narrow = vec![Complex32::new(0.1, 0.2); length];
    let longest = forward.get_scratch_len().max(envelope.get_scratch_len());
    let mut scratch =
        vec![Complex32::new(0.0, 0.0); longest.max(inverse.get_inplace_scratch_len())];
    bencher.bench_local(|| {
        a.copy_from_slice(&samples);
        b.copy_from_slice(&samples[..length]);
        narrow.fill(Complex32::new(0.1, 0.2));
        forward.process_with_scratch(&mut a, &mut lines, &mut scratch).expect("lengths fit");
        inverse.process_with_scratch(&mut narrow, &mut scratch);
        envelope
            .process_with_scratch(&mut b, &mut envelope_lines, &mut scratch)
            .expect("lengths fit");
        divan::black_box((&lines, &envelope_lines));
    });
}

/// The thorough path on a record of one second.
#[divan::bench(args = [12_000, 20_480, 25_600, 51_200], sample_count = 10)]
fn thorough_path(bencher: Bencher, n: usize) {
    let record = noise(n);
    let (speed, orders) = machine();
    let request = Request::new(SampleRate::new(n as f64).expect("valid"), speed, orders);
    bencher.bench_local(|| diagnose(divan::black_box(&record), &request));
}
