use super::*;
use std::io::Write;

#[test]
fn what_is_read_and_its_digests_are_the_same_for_every_length() {
    for length in
        [0, 1, PIECE - 1, PIECE, PIECE + 1, WORTH_A_THREAD - 1, WORTH_A_THREAD, 9 * PIECE + 5, 13 * PIECE]
    {
        let bytes: Vec<u8> = (0..length).map(|at| (at * 31 + at / PIECE) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"head").unwrap();
        file.write_all(&bytes).unwrap();
        let (seen, digests) = read(&file, 4, length).unwrap();
        assert!(seen == bytes, "{length}");
        assert_eq!(digests, sum(&bytes), "{length}");
        let target = tempfile::tempfile().unwrap();
        assert_eq!(copy(&file, 4, length, &target).unwrap(), digests, "{length}");
        assert!(read(&target, 0, length).unwrap().0 == bytes, "{length}");
    }
}

#[test]
fn pieces_in_another_order_have_another_sum() {
    let (one, other) = (vec![1; PIECE], vec![2; PIECE]);
    assert_ne!(sum(&[one.clone(), other.clone()].concat()), sum(&[other, one].concat()));
}

#[test]
fn a_file_that_ends_too_soon_is_an_error() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(5 * PIECE as u64).unwrap();
    assert!(read(&file, 0, 8 * PIECE).is_err());
    assert!(copy(&file, 0, 8 * PIECE, &tempfile::tempfile().unwrap()).is_err());
}
