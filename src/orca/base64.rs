//! Base64 as Envoy decodes it: the standard alphabet and nothing else, unused bits 0, and up to two
//! padding characters at the end, whether or not the length calls for them.
//!
//! gRPC sends none; Envoy before 1.40 demanded the right number.
//!
//! //= envoy v1.40 source/common/common/base64.cc#decodeWithoutPadding

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// What a byte outside the alphabet stands for: a bit that no digit has.
const NONE: u32 = 1 << 31;

/// For each byte the digit that it is.
const DIGITS: [u32; 256] = {
    let mut digits = [NONE; 256];
    let mut digit = 0;
    while digit < 64 {
        digits[ALPHABET[digit as usize] as usize] = digit;
        digit += 1;
    }
    digits
};

/// Puts what `text` stands for in place of what is in `output`; false if it is not base64. Then
/// `output` holds no particular bytes.
pub(super) fn decode(text: &[u8], output: &mut Vec<u8>) -> bool {
    let text = unpadded(text);
    let (groups, rest) = text.as_chunks::<4>();
    let tail = rest.len().saturating_sub(1);
    output.resize(groups.len() * 3 + tail, 0);
    let (bytes, last_bytes) = output.as_chunks_mut::<3>();
    let mut seen = 0;
    for (bytes, group) in bytes.iter_mut().zip(groups) {
        let bits = bits_of(*group);
        seen |= bits;
        let [_, high, middle, low] = bits.to_be_bytes();
        *bytes = [high, middle, low];
    }
    let last = match *rest {
        [] => 0,
        [first, second] => bits_of([first, second, b'A', b'A']),
        [first, second, third] => bits_of([first, second, third, b'A']),
        _ => return false,
    };
    let [_, high, middle, low] = last.to_be_bytes();
    last_bytes.copy_from_slice(&[high, middle][..tail]);
    let unused = if tail == 1 { middle } else { 0 } | low;
    (seen | last) & NONE == 0 && unused == 0
}

fn unpadded(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"=").unwrap_or(text);
    text.strip_suffix(b"=").unwrap_or(text)
}

/// The bits of four digits, lowest last.
#[inline]
fn bits_of(group: [u8; 4]) -> u32 {
    let [first, second, third, fourth] = group.map(|byte| DIGITS[usize::from(byte)]);
    // Shifting would move a mark out of place or out of the number.
    let marks = (first | second | third | fourth) & NONE;
    marks | (first << 18 | second << 12 | third << 6 | fourth) & !NONE
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ALPHABET, decode};

    fn decoded(text: &[u8]) -> Option<Vec<u8>> {
        let mut output = vec![7; 5];
        decode(text, &mut output).then_some(output)
    }

    /// Bit by bit.
    fn naive(text: &[u8]) -> Option<Vec<u8>> {
        let padding = text.iter().rev().take(2).take_while(|&&byte| byte == b'=').count();
        let mut bits = Vec::new();
        for byte in &text[..text.len() - padding] {
            let digit = ALPHABET.iter().position(|digit| digit == byte)?;
            bits.extend((0..6).rev().map(|place| digit >> place & 1));
        }
        let (bytes, rest) = bits.split_at(bits.len() / 8 * 8);
        if rest.len() == 6 || rest.contains(&1) {
            return None;
        }
        let byte = |bits: &[usize]| bits.iter().fold(0, |byte, &bit| byte << 1 | bit);
        bytes.chunks(8).map(|bits| u8::try_from(byte(bits)).ok()).collect()
    }

    #[test]
    fn padding_may_be_left_out_but_not_put_in_front() {
        for text in ["Zg", "Zg=", "Zg=="] {
            assert_eq!(decoded(text.as_bytes()).as_deref(), Some(b"f".as_slice()), "{text}");
        }
        for text in ["Zm8", "Zm8=", "Zm8=="] {
            assert_eq!(decoded(text.as_bytes()).as_deref(), Some(b"fo".as_slice()), "{text}");
        }
        for text in ["Zm9v", "Zm9v="] {
            assert_eq!(decoded(text.as_bytes()).as_deref(), Some(b"foo".as_slice()), "{text}");
        }
        for text in ["", "=", "=="] {
            assert_eq!(decoded(text.as_bytes()).as_deref(), Some(b"".as_slice()), "{text}");
        }
        for text in [
            "===",
            "Zg===",
            "=Zm8",
            "Zm=8",
            "Zg=A",
            "Zh==",
            "Zm9=",
            "Zg..",
            "..Zg",
            "A===",
            "A",
            "Zm9vA",
            " Zm8=",
            "Zm8= ",
            "Zm 8",
            "Zm9_",
            "Zm-v",
            "Zm9v\u{e9}",
        ] {
            assert_eq!(decoded(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn decoding_agrees_with_a_decoder_that_goes_bit_by_bit(
            text in prop_oneof![
                "[A-Za-z0-9+/]{0,40}={0,3}".prop_map(String::into_bytes),
                "[A-Za-z0-9+/]{0,9}[^A-Za-z0-9+/]{0,1}[A-Za-z0-9+/]{0,9}".prop_map(String::into_bytes),
                prop::collection::vec(any::<u8>(), 0..20),
            ],
        ) {
            prop_assert_eq!(decoded(&text), naive(&text));
        }
    }
}
