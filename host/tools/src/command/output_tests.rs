use super::*;
use crate::text::truncate::TruncatedBy;

async fn collect(pieces: &[&[u8]]) -> (Output, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut buffer = OutputBuffer::new(folder.path().to_path_buf());
    for piece in pieces {
        buffer.push(piece).await;
    }
    (buffer.finish().await, folder)
}

fn files(folder: &tempfile::TempDir) -> usize {
    std::fs::read_dir(folder.path()).unwrap().count()
}

#[tokio::test]
async fn short_output_stays_in_memory() {
    let (output, folder) = collect(&[b"a", b"\nb"]).await;
    assert_eq!(output, Output::short("a\nb"));
    assert_eq!(files(&folder), 0);
}

// 001-096
#[tokio::test]
async fn a_megabyte_gives_the_last_lines_and_a_file_with_everything() {
    let all: String = (0..20_000).map(|n| format!("{n:>49}\n")).collect();
    let pieces: Vec<_> = all.as_bytes().chunks(1000).collect();
    let (output, _folder) = collect(&pieces).await;
    assert!(all.ends_with(&output.text) && output.text.len() == 50 * 1024);
    let truncation = output.truncation.unwrap();
    assert_eq!((truncation.truncated_by, truncation.total_lines), (TruncatedBy::Bytes, 20_000));
    assert_eq!((truncation.total_bytes, truncation.output_lines), (1_000_000, 1024));
    assert!(output.full_output_is_whole);
    assert_eq!(std::fs::read_to_string(output.full_output.unwrap()).unwrap(), all);
}

// 001-096
#[tokio::test]
async fn many_short_lines_stop_at_2000() {
    let all: String = (1..=2001).map(|n| format!("{n}\n")).collect();
    let (output, _folder) = collect(&[all.as_bytes()]).await;
    assert_eq!(output.text, all[2..]);
    assert_eq!(output.truncation.unwrap().truncated_by, TruncatedBy::Lines);
    assert_eq!(std::fs::read_to_string(output.full_output.unwrap()).unwrap(), all);
}

#[tokio::test]
async fn one_endless_line_keeps_its_end() {
    let all = "\u{e9}".repeat(200_000);
    let pieces: Vec<_> = all.as_bytes().chunks(4097).collect();
    let (output, _folder) = collect(&pieces).await;
    assert!(output.text.chars().all(|c| c == '\u{e9}'), "no character is cut in two");
    assert_eq!(output.text.len(), 50 * 1024);
    assert!(output.truncation.unwrap().line_too_long);
}

// 001-097
#[tokio::test]
async fn invalid_bytes_that_grow_beyond_the_limit_are_still_kept_in_the_file() {
    let all = vec![0xFF; 30_000];
    let (output, _folder) = collect(&[&all]).await;
    assert!(output.truncation.is_some() && output.text.len() <= MAX_BYTES);
    assert_eq!(std::fs::read(output.full_output.unwrap()).unwrap(), all);
}

#[tokio::test]
async fn a_file_that_cannot_be_made_costs_only_the_full_output() {
    let mut buffer = OutputBuffer::new("/nonexistent/folder".into());
    buffer.push(&b"line\n".repeat(20_000)).await;
    let output = buffer.finish().await;
    assert_eq!((output.full_output, output.full_output_is_whole), (None, false));
    assert_eq!(output.truncation.unwrap().total_lines, 20_000);
}

// 001-096
#[tokio::test]
async fn the_file_is_for_the_user_alone_and_its_folder_is_made_again_if_it_is_gone() {
    use std::os::unix::fs::PermissionsExt;
    let base = tempfile::tempdir().unwrap();
    let folder = base.path().join("outputs");
    let mut buffer = OutputBuffer::new(folder.clone());
    buffer.push(&b"line\n".repeat(20_000)).await;
    let file = buffer.finish().await.full_output.unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
}

#[tokio::test]
async fn output_without_end_fills_the_file_only_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let mut buffer = OutputBuffer::new(folder.path().to_path_buf());
    let piece = vec![b'\n'; 8 * 1024 * 1024];
    for _ in 0..13 {
        buffer.push(&piece).await;
    }
    let output = buffer.finish().await;
    assert!(!output.full_output_is_whole);
    assert_eq!(std::fs::metadata(output.full_output.unwrap()).unwrap().len(), MAX_FILE_BYTES);
    assert_eq!(output.truncation.unwrap().total_bytes, 13 * piece.len());
}
