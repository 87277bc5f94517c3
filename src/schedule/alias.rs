//! The alias table of Walker, built as Vose does: one random number, one look, any weights.

use super::scale;

/// One column: below `threshold` (of 2^32) it is its own index, else `other`.
#[derive(Debug, Clone, Copy)]
struct Column {
    threshold: u32,
    other: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Alias {
    columns: Box<[Column]>,
}

impl Alias {
    /// A table over `weights`, each at least 1.
    pub(crate) fn new(weights: &[u32]) -> Self {
        let count = weights.len() as u64;
        let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
        // In units of 1/count of a weight a full column is exactly `total`, so that the decision
        // which column still lacks something is made in integers.
        let mut parts: Vec<u64> = weights.iter().map(|&weight| u64::from(weight) * count).collect();
        let mut columns: Vec<Column> =
            (0..index(parts.len())).map(|other| Column { threshold: u32::MAX, other }).collect();
        let (mut small, mut large): (Vec<u32>, Vec<u32>) =
            (0..index(parts.len())).partition(|&column| parts[column as usize] < total);
        while let (Some(&needy), Some(&giver)) = (small.last(), large.last()) {
            small.pop();
            let part = parts[needy as usize];
            columns[needy as usize] = Column { threshold: fraction(part, total), other: giver };
            parts[giver as usize] -= total - part;
            if parts[giver as usize] < total {
                large.pop();
                small.push(giver);
            }
        }
        Self { columns: columns.into_boxed_slice() }
    }

    /// The index for `x`.
    #[inline]
    pub(crate) fn find(&self, x: u64) -> usize {
        let (index, rest) = scale(x, self.columns.len());
        let column = self.columns[index];
        if rest >> 32 < u64::from(column.threshold) { index } else { column.other as usize }
    }
}

/// Slots are 32-bit, so a list of them is never longer.
#[allow(clippy::cast_possible_truncation)]
fn index(length: usize) -> u32 {
    length as u32
}

/// `part / total` in 2^32 fixed point; `part` is less than `total`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
fn fraction(part: u64, total: u64) -> u32 {
    (part as f64 / total as f64 * 4_294_967_296.0) as u32
}
