use super::*;
use crate::tree::File;

fn tree(files: usize, items: usize) -> Tree {
    let file = |number: usize| File {
        path: format!("src/{number:04}.rs"),
        bytes: 2048,
        items: (0..items).map(|item| format!("fn item_{item}()")).collect(),
    };
    Tree { files: (0..files).map(file).collect(), ..Tree::default() }
}

#[test]
fn a_small_map_is_complete() {
    let map = render(&tree(2, 1), Path::new("src"), 16_000);
    let expected =
        "2 files, 4.0 KiB in `src`\nsrc/0000.rs 2.0 KiB\n  fn item_0()\nsrc/0001.rs 2.0 KiB\n  fn item_0()\n";
    assert_eq!((map.text.as_str(), map.shown), (expected, 2));
}

#[test]
fn a_map_that_does_not_fit_drops_items_before_files() {
    let map = render(&tree(20, 50), Path::new(""), 6_000);
    assert!(map.text.len() <= 6_000);
    assert_eq!(map.shown, 20);
    assert!(map.text.contains("  … 38 more\n"), "{}", map.text);
    assert!(map.text.contains("… some items are left out"));

    let map = render(&tree(2_000, 50), Path::new(""), 6_000);
    assert!(map.text.len() <= 6_000 && map.shown > 100, "{}", map.shown);
    assert!(map.text.ends_with(&format!(
        "… {} more files: pass `path` for a part of them, or a larger `max_bytes`\n",
        2_000 - map.shown
    )));
}

#[test]
fn what_was_left_out_is_said() {
    let tree = Tree { binary: 2, large: 1, deep: 3, cut: true, ..Tree::default() };
    let map = render(&tree, Path::new(""), 1_000);
    assert!(map.text.contains("too many files"));
    assert!(map.text.contains("left out: 2 binary, 1 large, 3 too deep (pass `depth`)\n"));
}

#[test]
fn a_file_name_cannot_forge_a_line() {
    let mut tree = tree(1, 0);
    tree.files[0].path = "a\nb".to_owned();
    assert!(render(&tree, Path::new(""), 1_000).text.contains("a\u{fffd}b 2.0 KiB"));
}

#[test]
fn sizes_are_short() {
    assert_eq!([size(0), size(1023), size(1536), size(5 << 20)], ["0 B", "1023 B", "1.5 KiB", "5.0 MiB"]);
}
