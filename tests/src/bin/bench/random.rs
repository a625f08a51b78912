//! Numbers that look random and are the same in every run.

/// A generator of them (`SplitMix64`).
pub struct Random(u64);

impl Random {
    /// The generator that `seed` names.
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        random
    }

    /// Any number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below 1.
    pub fn share(&mut self) -> f64 {
        let [one, two, three, four, ..] = self.next().to_le_bytes();
        f64::from(u32::from_le_bytes([one, two, three, four])) / (f64::from(u32::MAX) + 1.0)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap_or(0)
    }

    /// A vector of length 1.
    pub fn direction(&mut self, dimension: usize) -> Vec<f32> {
        let mut vector: Vec<f32> = (0..dimension).map(|_| self.component()).collect();
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        for value in &mut vector {
            *value /= length;
        }
        vector
    }

    /// A number from -1 to 1.
    fn component(&mut self) -> f32 {
        let [one, two, ..] = self.next().to_le_bytes();
        f32::from(i16::from_le_bytes([one, two])) / 32_768.0
    }
}
