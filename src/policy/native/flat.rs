//! One table over all hosts, while they are few.

use super::levels::Level;
use super::portions::low_half;
use crate::policy::HostId;
use crate::schedule::{Alias, Guide, Share};

/// One host in the table over all of them, and the level it comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Flat {
    pub(super) host: HostId,
    pub(super) priority: u32,
    /// The index of its level.
    pub(super) level: u32,
}

/// A table over all hosts, of the kind that a policy's numbers want. An empty one finds nothing.
pub(crate) trait Flattened {
    fn new(hosts: &[Flat], lengths: &[u64]) -> Self;
    fn walk(&self, x: u64) -> Option<Flat>;
}

/// For `round_robin`, which walks.
pub(crate) type Walked = Guide<Share<Flat>>;

/// For `random`, which draws.
pub(crate) type Drawn = Alias<Flat>;

impl Flattened for Walked {
    fn new(hosts: &[Flat], lengths: &[u64]) -> Self {
        Self::of_shares(hosts, lengths)
    }

    #[inline(always)]
    fn walk(&self, x: u64) -> Option<Flat> {
        Some(self.walk(x)?.item())
    }
}

impl Flattened for Drawn {
    fn new(hosts: &[Flat], lengths: &[u64]) -> Self {
        Self::new(hosts, lengths)
    }

    #[inline(always)]
    fn walk(&self, x: u64) -> Option<Flat> {
        self.walk(x)
    }
}

/// The most hosts that are laid out in one table: each publish makes it anew.
pub(super) const FLAT_HOSTS: usize = 4096;

/// All hosts and their shares of the unit interval in units of 2^-48, if they are few and every
/// level is ordinary.
pub(super) fn flatten(levels: &[Level]) -> Option<(Vec<Flat>, Vec<u64>)> {
    let mut count = 0;
    for level in levels {
        count += level.ordinary.as_ref()?.len();
    }
    if count > FLAT_HOSTS {
        return None;
    }
    let (mut hosts, mut lengths) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (index, level) in (0..).zip(levels) {
        let (schedule, chunk) = (level.ordinary.as_ref()?, level.chunk.as_ref().ok()?);
        schedule.each(|host| hosts.push(Flat { host, priority: level.priority, level: index }));
        // 2^48 times 4096 hosts is what the alias table can multiply.
        let length = u128::from((level.last - level.start) >> 16) + 1;
        let sums = chunk.weights.sums();
        let total = sums.last().copied().map_or(1, u128::from);
        let mut from = 0;
        lengths.extend(sums.into_iter().map(|sum| {
            let to = low_half(length * u128::from(sum) / total);
            (to - std::mem::replace(&mut from, to)).max(1)
        }));
    }
    Some((hosts, lengths))
}
