use super::*;
use tokio::io::AsyncReadExt;

async fn read(bytes: &[u8], max_bytes: usize) -> (io::Result<Vec<u8>>, Option<String>) {
    let fault = Fault::default();
    let mut reader = Bounded::new(bytes, max_bytes, fault.clone());
    let mut read = Vec::new();
    // In small pieces, so that lines go over the ends of buffers.
    let mut piece = [0; 3];
    loop {
        match reader.read(&mut piece).await {
            Ok(0) => return (Ok(read), fault.get()),
            Ok(n) => read.extend_from_slice(&piece[..n]),
            Err(error) => return (Err(error), fault.get()),
        }
    }
}

#[tokio::test]
async fn lines_up_to_the_limit_pass_unchanged() {
    let bytes = b"12345\n12345\n\n1\n12345";
    let (read, fault) = read(bytes, 5).await;
    assert_eq!(read.unwrap(), bytes);
    assert_eq!(fault, None);
}

#[tokio::test]
async fn a_longer_line_ends_it_and_leaves_the_reason() {
    let (read, fault) = read(b"1\n123456", 5).await;
    assert_eq!(read.unwrap_err().kind(), io::ErrorKind::InvalidData);
    assert!(fault.unwrap().contains("more than"));
}
