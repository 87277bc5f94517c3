//! The Mersenne Twister (MT19937, 32 bits), seeded no further than numbers are drawn.
//!
//! A number needs three words of the state, the last of them 397 words on, so the first number
//! needs 398 of the 624 words that a seed gives.

const WORDS: usize = 624;
const DISTANCE: usize = 397;

/// See the module.
pub(super) struct Twister {
    state: [u32; WORDS],
    /// So many words have got what the seed gives them.
    seeded: usize,
    /// The word of the next number.
    next: usize,
}

impl Twister {
    pub(super) fn new(seed: u32) -> Self {
        let mut state = [0; WORDS];
        state[0] = seed;
        Self { state, seeded: 1, next: 0 }
    }

    /// The next number.
    pub(super) fn draw(&mut self) -> u32 {
        let place = self.next;
        self.seed((place + DISTANCE + 1).min(WORDS));
        let (following, far) = ((place + 1) % WORDS, (place + DISTANCE) % WORDS);
        let joined = self.state[place] & 0x8000_0000 | self.state[following] & 0x7FFF_FFFF;
        let twist = if joined & 1 == 0 { 0 } else { 0x9908_B0DF };
        let word = self.state[far] ^ joined >> 1 ^ twist;
        self.state[place] = word;
        self.next = following;
        tempered(word)
    }

    /// Makes sure that the first `words` words, at most all, are seeded.
    fn seed(&mut self, words: usize) {
        if self.seeded >= words {
            return;
        }
        let mut last = self.state[self.seeded - 1];
        let numbers = u32::try_from(self.seeded).unwrap_or(0)..;
        for (word, number) in self.state[self.seeded..words].iter_mut().zip(numbers) {
            last = (last ^ last >> 30).wrapping_mul(1_812_433_253).wrapping_add(number);
            *word = last;
        }
        self.seeded = words;
    }
}

fn tempered(word: u32) -> u32 {
    let word = word ^ word >> 11;
    let word = word ^ word << 7 & 0x9D2C_5680;
    let word = word ^ word << 15 & 0xEFC6_0000;
    word ^ word >> 18
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published algorithm: the whole state is seeded, then replaced at once.
    fn naive(seed: u32, numbers: usize) -> Vec<u32> {
        let mut state = vec![seed];
        for number in 1..624_u32 {
            let last = state[number as usize - 1];
            state.push((last ^ last >> 30).wrapping_mul(1_812_433_253).wrapping_add(number));
        }
        let mut output = Vec::new();
        while output.len() < numbers {
            for word in 0..624 {
                let joined = state[word] & 1 << 31 | state[(word + 1) % 624] & !(1 << 31);
                let twist = (joined >> 1) ^ ((joined & 1) * 0x9908_B0DF);
                state[word] = state[(word + 397) % 624] ^ twist;
            }
            output.extend(state.iter().map(|&word| tempered(word)));
        }
        output.truncate(numbers);
        output
    }

    //= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#BoundedLoadHashingLoadBalancer
    #[test]
    fn the_first_numbers_are_the_known_ones() {
        let rows: [(u32, &[u32]); 4] = [
            (0, &[2_357_136_044, 2_546_248_239, 3_071_714_933]),
            (2, &[1_872_583_848, 794_921_487, 111_352_301]),
            (6, &[3_834_805_130, 4_069_378_761]),
            (7, &[327_741_615, 976_413_892]),
        ];
        for (seed, numbers) in rows {
            let mut twister = Twister::new(seed);
            let drawn: Vec<u32> = numbers.iter().map(|_| twister.draw()).collect();
            assert_eq!(drawn, numbers, "from seed {seed}");
        }
    }

    #[test]
    fn the_ten_thousandth_number_of_the_usual_seed_is_the_published_one() {
        let mut twister = Twister::new(5489);
        let last = (0..10_000).map(|_| twister.draw()).last();
        assert_eq!(last, Some(4_123_659_995));
    }

    #[test]
    fn seeding_as_far_as_needed_makes_no_difference() {
        for seed in [0, 1, 5489, u32::MAX] {
            let mut twister = Twister::new(seed);
            for (place, expected) in naive(seed, 2000).into_iter().enumerate() {
                assert_eq!(twister.draw(), expected, "number {place} from seed {seed}");
            }
        }
    }

    #[test]
    fn the_first_number_needs_two_thirds_of_the_state() {
        let mut twister = Twister::new(1);
        twister.draw();
        assert_eq!(twister.seeded, 398);
    }
}
