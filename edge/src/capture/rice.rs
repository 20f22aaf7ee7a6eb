//! Lossless coding of 24-bit counts in memory, as FLAC codes a channel.
//!
//! Fixed polynomial predictors of order 0 to 4 and partitioned Rice codes with parameters of 5 bits
//! (RFC 9639, 9.2.5 and 9.2.7), without FLAC's headers, which nobody would read here. The crates
//! that were weighed are in `docs/build.md`: the encoder at hand has no parameters above 14, so it
//! makes five bytes of a sample of a loud 24-bit sensor.
//!
//! Form, bits from the highest: a frame of up to 4,096 counts = order (3 bits), the first `order`
//! counts (24 bits each), then partitions of up to 256 residuals = parameter (5 bits) and
//! residuals, each zigzag: `u >> parameter` zeros, a one, the lowest `parameter` bits; parameter
//! 31: each in 29 bits.
//!
//! Invariants: [`decoded`] gives back what [`encoded`] got, for counts of at most 24 bits with
//! sign; a code is at most 29 bits a count and 8 bits a partition longer than nothing, whatever the
//! counts are; damaged bytes give `None` or other counts, never a panic.

const FRAME: usize = 4096;
const PARTITION: usize = 256;
const HIGHEST_ORDER: usize = 4;
/// Residuals of order 4 of 24-bit counts have 28 bits and a sign.
const RAW_BITS: u32 = 29;
const RAW: u32 = 31;
const COUNT_BITS: u32 = 24;

/// The code of these counts.
pub(super) fn encoded(counts: &[i32]) -> Vec<u8> {
    let mut out = BitWriter::default();
    let mut residuals = Vec::with_capacity(FRAME);
    for frame in counts.chunks(FRAME) {
        let order = best_order(frame);
        out.put(order as u64, 3);
        for &count in &frame[..order] {
            out.put(u64::from(count.cast_unsigned() & 0xff_ffff), COUNT_BITS);
        }
        residuals.clear();
        residuals.extend((order..frame.len()).map(|at| zigzag(residual(frame, at, order))));
        residuals.chunks(PARTITION).for_each(|partition| out.put_partition(partition));
    }
    out.finish()
}

/// The counts of a code; `None` if it ends too early or its parameters cannot be.
pub(super) fn decoded(code: &[u8], count: usize) -> Option<Vec<i32>> {
    let mut bits = BitReader { code, at: 0 };
    let mut counts: Vec<i32> = Vec::with_capacity(count);
    while counts.len() < count {
        let begin = counts.len();
        let frame = (count - begin).min(FRAME);
        let order = bits.take(3)? as usize;
        if order > HIGHEST_ORDER.min(frame) {
            return None;
        }
        for _ in 0..order {
            let count = bits.take(COUNT_BITS)? as u32;
            // the sign of 24 bits is carried to 32
            counts.push((count << 8).cast_signed() >> 8);
        }
        let mut left = frame - order;
        while left > 0 {
            let parameter = bits.take(5)? as u32;
            for _ in 0..left.min(PARTITION) {
                let value = bits.take_residual(parameter)?;
                let predicted = predicted(&counts[begin..], order);
                counts.push(predicted.wrapping_add(unzigzag(value)));
            }
            left -= left.min(PARTITION);
        }
    }
    Some(counts)
}

/// The order whose residuals are smallest in sum.
fn best_order(frame: &[i32]) -> usize {
    let mut sums = [0_u64; HIGHEST_ORDER + 1];
    let mut before = [0_i32; HIGHEST_ORDER];
    for (at, &count) in frame.iter().enumerate() {
        // differences of rising order, each from the two below it
        let mut difference = count;
        for (order, sum) in sums.iter_mut().enumerate() {
            if at >= HIGHEST_ORDER {
                *sum += u64::from(difference.unsigned_abs());
            }
            if order < HIGHEST_ORDER {
                let next = difference.wrapping_sub(before[order]);
                before[order] = difference;
                difference = next;
            }
        }
    }
    let smallest = sums.iter().enumerate().min_by_key(|(_, sum)| **sum);
    smallest.map_or(0, |(order, _)| order).min(frame.len())
}

/// Returns the next count by a polynomial through the last `order` counts.
fn predicted(before: &[i32], order: usize) -> i32 {
    let last = |n: usize| before[before.len() - n];
    match order {
        0 => 0,
        1 => last(1),
        2 => last(1).wrapping_mul(2).wrapping_sub(last(2)),
        3 => {
            let three = last(1).wrapping_sub(last(2)).wrapping_mul(3);
            three.wrapping_add(last(3))
        }
        _ => {
            let four = last(1).wrapping_add(last(3)).wrapping_mul(4);
            four.wrapping_sub(last(2).wrapping_mul(6)).wrapping_sub(last(4))
        }
    }
}

fn residual(frame: &[i32], at: usize, order: usize) -> i32 {
    frame[at].wrapping_sub(predicted(&frame[..at], order))
}

const fn zigzag(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)).cast_unsigned()
}

const fn unzigzag(value: u32) -> i32 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

/// Bits of a partition with this parameter.
fn length(partition: &[u32], parameter: u32) -> u64 {
    let unary: u64 = partition.iter().map(|&value| u64::from(value >> parameter)).sum();
    unary + partition.len() as u64 * u64::from(parameter + 1)
}

#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    held: u64,
    count: u32,
}

impl BitWriter {
    /// Appends the lowest `bits` of a value, at most 32.
    fn put(&mut self, value: u64, bits: u32) {
        self.held = self.held << bits | value;
        self.count += bits;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.held >> self.count) as u8);
        }
    }

    fn put_partition(&mut self, partition: &[u32]) {
        let sum: u64 = partition.iter().map(|&value| u64::from(value)).sum();
        let mean = (sum / partition.len().max(1) as u64).max(1);
        let near = mean.ilog2().min(27);
        let choices = near.saturating_sub(1)..=near + 1;
        let best = choices.map(|k| (length(partition, k), k)).min();
        let raw = partition.len() as u64 * u64::from(RAW_BITS);
        let parameter = best.filter(|best| best.0 < raw).map_or(RAW, |best| best.1);
        self.put(u64::from(parameter), 5);
        for &value in partition {
            if parameter == RAW {
                self.put(u64::from(value), RAW_BITS);
                continue;
            }
            let mut zeros = value >> parameter;
            while zeros > 31 {
                self.put(0, 32);
                zeros -= 32;
            }
            self.put(1, zeros + 1);
            self.put(u64::from(value & ((1 << parameter) - 1)), parameter);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            let spare = 8 - self.count;
            self.put(0, spare);
        }
        self.bytes
    }
}

struct BitReader<'a> {
    code: &'a [u8],
    /// Bit that comes next.
    at: usize,
}

impl BitReader<'_> {
    /// The next 57 bits or more, from the highest; zeros after the end.
    fn ahead(&self) -> u64 {
        let mut bytes = [0_u8; 8];
        let rest = self.code.get(self.at / 8..).unwrap_or_default();
        let there = rest.len().min(8);
        bytes[..there].copy_from_slice(&rest[..there]);
        u64::from_be_bytes(bytes) << (self.at % 8)
    }

    fn pass(&mut self, bits: usize) -> Option<()> {
        self.at += bits;
        (self.at <= self.code.len() * 8).then_some(())
    }

    /// The next `bits`, at most 32.
    fn take(&mut self, bits: u32) -> Option<u64> {
        let value = if bits == 0 { 0 } else { self.ahead() >> (64 - bits) };
        self.pass(bits as usize)?;
        Some(value)
    }

    fn take_residual(&mut self, parameter: u32) -> Option<u32> {
        if parameter == RAW {
            return self.take(RAW_BITS).map(|value| value as u32);
        }
        let mut quotient = 0_u32;
        loop {
            let ahead = self.ahead();
            let zeros = ahead.leading_zeros();
            // 57 bits are certain; what is behind may be of the next bytes
            if zeros < 57 {
                self.pass(zeros as usize + 1)?;
                quotient = quotient.checked_add(zeros)?;
                break;
            }
            self.pass(56)?;
            quotient = quotient.checked_add(56)?;
        }
        let high = quotient.checked_shl(parameter).filter(|high| high >> parameter == quotient)?;
        Some(high | self.take(parameter)? as u32)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn same(counts: &[i32]) -> usize {
        let code = encoded(counts);
        assert_eq!(decoded(&code, counts.len()).as_deref(), Some(counts));
        code.len()
    }

    #[test]
    fn extremes_come_back_and_never_take_more_than_their_bound() {
        let most = 8_388_607;
        for counts in [
            vec![],
            vec![most],
            vec![-most; 3],
            [most, -most].repeat(5000),
            vec![0; 9000],
            (0..9000).map(|n| if n % 2000 == 77 { most } else { 0 }).collect(),
            (0..4096 + 5).map(|n: i32| n * n % 977 - 400).collect(),
        ] {
            let bytes = same(&counts);
            assert!(bytes <= counts.len() * 29 / 8 + counts.len() / 200 + 16, "{bytes}");
        }
    }

    #[test]
    fn a_smooth_signal_takes_a_third_and_noise_its_own_bits() {
        let sine = (0..8192).map(|n| ((f64::from(n) * 0.02).sin() * 8e6) as i32);
        assert!(same(&sine.collect::<Vec<_>>()) < 8192);
        // uniform noise of 20 bits
        let mut state = 1_u32;
        let noise = (0..8192).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 12).cast_signed() - (1 << 19)
        });
        let bytes = same(&noise.collect::<Vec<_>>());
        assert!(bytes < 8192 * 22 / 8, "{bytes}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn any_counts_come_back(
            counts in proptest::collection::vec(-8_388_607_i32..=8_388_607, 0..6000),
            shift in 0_u32..24
        ) {
            let counts: Vec<i32> = counts.into_iter().map(|count| count >> shift).collect();
            same(&counts);
        }

        #[test]
        fn damaged_bytes_are_no_panic(
            code in proptest::collection::vec(any::<u8>(), 0..2000), count in 0_usize..6000
        ) {
            if let Some(counts) = decoded(&code, count) {
                prop_assert_eq!(counts.len(), count);
            }
        }
    }
}
