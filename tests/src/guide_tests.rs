use super::*;

const GUIDE: &str = "# A guide

```rust file=src/lib.rs
fn main() {}
```

Text, and code that is only shown:

```rust
fn other() {}
```

```console
$ cat src/lib.rs
fn main() {}
$ printf '%s\\n' one \\
>   two
one
two
```

```console no-run
$ rm -rf /
```

```console fails
$ true
$ ls missing
…
```
";

fn run(line: usize, command: &str, says: &[&str], fails: bool) -> Block {
    let says = says.iter().map(|line| (*line).to_owned()).collect();
    Block::Run { line, command: command.to_owned(), says, fails }
}

#[test]
fn a_guide_is_files_and_commands_in_their_order() {
    let expected = [
        Block::File { path: "src/lib.rs".to_owned(), text: "fn main() {}\n".to_owned() },
        run(14, "cat src/lib.rs", &["fn main() {}"], false),
        run(16, "printf '%s\\n' one \\\n  two", &["one", "two"], false),
        run(27, "true", &[], false),
        run(28, "ls missing", &["…"], true),
    ];
    assert_eq!(blocks(GUIDE).unwrap(), expected);
}

#[test]
fn a_guide_that_is_written_wrongly_is_refused() {
    for guide in
        ["```console\n$ ls", "```console\nsaid\n```", "```console norun\n$ ls\n```", "```rust f=x\n```"]
    {
        assert!(blocks(guide).is_err(), "{guide}");
    }
}

#[test]
fn what_is_left_out_of_a_promise_can_be_anything_and_nothing_else_can() {
    let fits = |promised: &str, said: &str| {
        let promised: Vec<_> = promised.lines().map(str::to_owned).collect();
        fits(&promised, &said.lines().collect::<Vec<_>>())
    };
    for (promised, said) in [
        ("", ""),
        ("a\nb", "a\nb"),
        ("a\n…\nb", "a\nb"),
        ("a\n…\nb", "a\nx\nb\ny\nb"),
        ("…", ""),
        ("…", "any\nthing"),
        ("took … ms", "took 2.31 ms"),
        ("…/project", "/tmp/x/project"),
        ("… of … done", "1 of 2 done"),
        ("…é…", "caféé"),
    ] {
        assert!(fits(promised, said), "{promised:?} {said:?}");
    }
    for (promised, said) in
        [("", "a"), ("a", ""), ("a\n…", "b"), ("…\nb", "b\na"), ("took … ms", "took 2.31 s"), ("a", "a ")]
    {
        assert!(!fits(promised, said), "{promised:?} {said:?}");
    }
}

#[tokio::test]
async fn a_guide_is_followed_until_something_does_not_hold() {
    let mut newcomer = Newcomer::new("/bin/true").unwrap();
    let guide = newcomer.root.path().join("guide.md");
    let mut follow = async |text: &str| {
        std::fs::write(&guide, text).unwrap();
        newcomer.follow(&guide).await.map_err(|error| error.to_string())
    };
    assert_eq!(follow(GUIDE).await, Ok(()));
    let other = follow(&GUIDE.replace("\ntwo\n", "\nthree\n")).await.unwrap_err();
    assert!(other.contains("guide.md:16") && other.contains("three"), "{other}");
    let bad = follow(&GUIDE.replace("$ true", "$ false")).await.unwrap_err();
    assert!(bad.contains("$ false") && bad.contains("ends badly"), "{bad}");
    let good = follow(&GUIDE.replace("$ ls missing", "$ ls /")).await.unwrap_err();
    assert!(good.contains("ends well"), "{good}");
    // A command goes on where the one before it went.
    follow("```console\n$ mkdir deeper && cd deeper\n$ pwd\n…/work/deeper\n```\n").await.unwrap();
    follow("nothing to do").await.unwrap_err();
}
