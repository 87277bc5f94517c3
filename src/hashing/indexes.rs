//! A long list of indexes of members, in as few bytes as their number allows.

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Indexes {
    /// Of at most 65 536 members.
    Narrow(Box<[u16]>),
    /// Of more.
    Wide(Box<[u32]>),
}

impl Indexes {
    /// The list of these indexes, each less than `members`.
    #[allow(clippy::cast_possible_truncation)] // they are less than 2^16 where they lose bits
    pub(crate) fn new(indexes: Vec<u32>, members: usize) -> Self {
        if members > usize::from(u16::MAX) + 1 {
            return Self::Wide(indexes.into());
        }
        Self::Narrow(indexes.iter().map(|&index| index as u16).collect())
    }

    /// The index at a place; 0 where there is none.
    #[inline(always)]
    pub(crate) fn get(&self, place: usize) -> u32 {
        match self {
            Self::Narrow(indexes) => indexes.get(place).copied().map_or(0, u32::from),
            Self::Wide(indexes) => indexes.get(place).copied().unwrap_or(0),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Narrow(indexes) => indexes.len(),
            Self::Wide(indexes) => indexes.len(),
        }
    }

    /// All of them, in order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = u32> {
        (0..self.len()).map(|place| self.get(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_gives_back_what_it_was_made_from() {
        for members in [1, 65_536, 65_537, 100_000] {
            let indexes: Vec<u32> = (0..members).step_by(7).chain([members - 1]).collect();
            let list = Indexes::new(indexes.clone(), members as usize);
            assert_eq!(list.iter().collect::<Vec<u32>>(), indexes, "of {members} members");
            let is_narrow = matches!(list, Indexes::Narrow(_));
            assert_eq!(is_narrow, members <= 65_536, "of {members} members");
            assert_eq!(list.get(indexes.len()), 0, "past the end there is nothing to find");
        }
    }
}
