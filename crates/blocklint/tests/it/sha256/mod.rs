//! SHA-256 as in FIPS 180-4, for the digests of verified models.

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes, and of the square roots of the
/// first eight.
fn constants() -> ([u32; 64], [u32; 8]) {
    let primes: Vec<u64> =
        (2u64..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).take(64).collect();
    // The fraction of the k-th root, exactly: the largest n with n^k <= p * 2^(32k), of which 32 bits count.
    let root = |prime: u64, power: u32| {
        let (mut low, mut high) = (0u128, 1u128 << 36);
        while high - low > 1 {
            let middle = (low + high) / 2;
            let is_less = match power {
                2 => middle * middle <= u128::from(prime) << 64,
                _ => middle * middle * middle <= u128::from(prime) << 96,
            };
            if is_less { low = middle } else { high = middle }
        }
        low as u32
    };
    (std::array::from_fn(|at| root(primes[at], 3)), std::array::from_fn(|at| root(primes[at], 2)))
}

/// Returns the digest of a model as `rules/models/digest.py` makes it: the hash of the lines that verification reads.
pub(crate) fn digest_of_model(text: &str) -> String {
    const UNREAD: [&str; 5] = ["#", "kind =", "takes =", "severity =", "phase ="];
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let read = lines.filter(|line| !UNREAD.iter().any(|unread| line.starts_with(unread)));
    sha256(read.flat_map(|line| [line, "\n"]).collect::<String>().as_bytes())
}

/// The hash of some bytes, in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let (round, mut state) = constants();
    let mut message = bytes.to_vec();
    message.push(0x80);
    message.resize(message.len().next_multiple_of(64), 0);
    if (bytes.len() % 64) >= 56 {
        message.resize(message.len() + 64, 0);
    }
    let end = message.len() - 8;
    message[end..].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    for block in message.chunks(64) {
        let mut words = [0u32; 64];
        for (word, part) in words.iter_mut().zip(block.chunks(4)) {
            *word = u32::from_be_bytes(part.try_into().expect("four bytes"));
        }
        for at in 16..64 {
            let (a, b) = (words[at - 15], words[at - 2]);
            let small = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let large = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            words[at] = words[at - 16].wrapping_add(small).wrapping_add(words[at - 7]).wrapping_add(large);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (word, constant) in words.iter().zip(round) {
            let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let first = h.wrapping_add(sum).wrapping_add(choice).wrapping_add(constant).wrapping_add(*word);
            let other = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let second = other.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
        }
        for (part, value) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *part = part.wrapping_add(value);
        }
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}

#[test]
fn known_texts_have_their_hashes() {
    assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    assert_eq!(sha256(long), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}
