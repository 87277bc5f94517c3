//! The alias table of Walker, built as Vose does: one random number, one look, any weights.

use super::{Weight, scale};
use crate::sync::Arc;

/// Below `threshold` (of 2^32) the column stands for its own item, else for another's.
#[derive(Debug, Clone, Copy)]
struct Column<T> {
    threshold: u32,
    /// The other one first, so that the comparison is the index.
    items: [T; 2],
}

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct Alias<T> {
    columns: Arc<[Column<T>]>,
}

impl<T: Copy + PartialEq> Alias<T> {
    /// A table over `items`; `weights` go with them, each at least 1. Their sum, and each of them
    /// times their number, are less than 2^64.
    pub(crate) fn new<W: Weight>(items: &[T], weights: &[W]) -> Self {
        let count = weights.len() as u64;
        let total: u64 = weights.iter().map(|&weight| weight.into()).sum();
        // In units of 1/count of a weight a full column is exactly `total`, so that the decision
        // which column still lacks something is made in integers.
        let part = |&weight: &W| -> u64 { weight.into() * count };
        let mut parts: Vec<u64> = weights.iter().map(part).collect();
        let full = |&item: &T| Column { threshold: u32::MAX, items: [item; 2] };
        let mut columns: Vec<Column<T>> = items.iter().map(full).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..parts.len()).partition(|&column| parts[column] < total);
        while let (Some(&needy), Some(&giver)) = (small.last(), large.last()) {
            small.pop();
            let part = parts[needy];
            columns[needy].threshold = fraction(part, total);
            columns[needy].items[0] = items[giver];
            parts[giver] -= total - part;
            if parts[giver] < total {
                large.pop();
                small.push(giver);
            }
        }
        Self { columns: columns.into() }
    }

    /// The item that `x` belongs to; none if there are no items at all.
    #[inline(always)]
    pub(crate) fn walk(&self, x: u64) -> Option<T> {
        self.look(x).copied()
    }

    /// The same where it stands.
    #[inline(always)]
    pub(crate) fn look(&self, x: u64) -> Option<&T> {
        let (index, rest) = scale(x, self.columns.len());
        let column = self.columns.get(index)?;
        Some(&column.items[usize::from(rest >> 32 < u64::from(column.threshold))])
    }

    /// The item at an index.
    #[inline]
    pub(crate) fn item(&self, index: usize) -> &T {
        &self.columns[index].items[1]
    }

    /// The items in order.
    pub(crate) fn items(&self) -> impl ExactSizeIterator<Item = T> {
        self.columns.iter().map(|column| column.items[1])
    }

    /// Whether the table was made from these items, in this order.
    pub(crate) fn is_over(&self, items: &[T]) -> bool {
        self.columns.iter().map(|column| &column.items[1]).eq(items)
    }
}

/// `part / total` in 2^32 fixed point; `part` is less than `total`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
fn fraction(part: u64, total: u64) -> u32 {
    (part as f64 / total as f64 * 4_294_967_296.0) as u32
}
