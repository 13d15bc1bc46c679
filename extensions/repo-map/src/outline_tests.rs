use proptest::prelude::*;

use super::*;

fn items(language: Language, text: &str) -> Vec<String> {
    outline(language, text)
}

#[test]
fn rust_items_are_found_and_their_bodies_are_not() {
    let text = r#"
//! fn not_this
use std::fmt;
#[derive(Debug)]
pub struct Point {
    x: f64,
}
pub(crate) struct Unit;
enum Shape { Dot }
pub trait Draw: Sized {
    fn draw(&self);
}
impl<T: Clone> Draw for Vec<T>
where
    T: Draw,
{
    fn draw(&self) {}
}
pub async unsafe fn run(a: u32, b: &str) -> Result<(), Error> {
}
extern "C" fn hook() {}
const LIMIT: usize = 5;
pub static NAME: &str = "x";
type Pair = (u8, u8);
mod inner;
macro_rules! shout {
    () => {};
}
/* pub fn commented() {}
pub fn also_commented() {}
*/
pub use other::fn_like;
"#;
    assert_eq!(
        items(Language::Rust, text),
        [
            "pub struct Point",
            "pub(crate) struct Unit",
            "enum Shape",
            "pub trait Draw: Sized",
            "impl<T: Clone> Draw for Vec<T>",
            "pub async unsafe fn run(a: u32, b: &str) -> Result<(), Error>",
            "extern \"C\" fn hook()",
            "const LIMIT: usize",
            "pub static NAME: &str",
            "type Pair",
            "mod inner",
            "macro_rules! shout",
        ]
    );
}

#[test]
fn python_items_are_found_outside_long_strings() {
    let text = "\"\"\"Module.\n\ndef not_this():\n\"\"\"\nimport os\nclass A(B):\n    def method(self):\n        pass\n\
                async def go(x: int) -> None:  # why\n@decorated\ndef done(): ...\nX = '''a'''\ndef last():\n";
    assert_eq!(
        items(Language::Python, text),
        ["class A(B)", "async def go(x: int) -> None:", "def done(): ...", "def last()"]
    );
}

#[test]
fn javascript_and_typescript_items_are_found() {
    let text = "import x from 'x';\nexport default function main(a) {\n  function inner() {}\n}\nclass A extends B {\n}\n\
                export const limit = 5;\nconst go = async (x) => {\n};\nconst plain = 5;\nexport interface Shape {\n}\n\
                type Pair = [number, number];\nexport { a, b };\nmodule.exports = { a };\n  export function indented() {}\n";
    assert_eq!(
        items(Language::JavaScript, text),
        [
            "export default function main(a)",
            "class A extends B",
            "export const limit = 5",
            "const go = async (x)",
            "export interface Shape",
            "type Pair = [number, number]",
            "module.exports =",
        ]
    );
}

#[test]
fn go_c_and_java_items_are_found() {
    let go = "package main\nimport (\n\t\"fmt\"\n)\ntype Point struct {\n\tX int\n}\nfunc (p *Point) Move(by int) error {\n}\nvar limit = 5\nvar (\n\ta = 1\n)\n";
    assert_eq!(
        items(Language::Go, go),
        ["type Point struct", "func (p *Point) Move(by int) error", "var limit"]
    );
    let c = "#include <x.h>\n#define LIMIT 5\n#define MAX(a, b) ((a) > (b))\nstruct point {\n  int x;\n};\ntypedef int word;\n\
             static int add(int a, int b)\n{\n  return a;\n}\nint declared(int);\nint x = call(1);\nnamespace app {\nclass Widget : public Base {\n};\n\
             void Widget::draw() const {\n}\nstruct point origin;\n}\n";
    assert_eq!(
        items(Language::C, c),
        [
            "#define MAX(…)",
            "struct point",
            "typedef int word",
            "static int add(int a, int b)",
            "namespace app",
            "class Widget : public Base",
            "void Widget::draw() const",
        ]
    );
    let java = "package a;\nimport b.C;\n/** class Not */\npublic final class A extends B {\n  class Inner {}\n}\n@interface Mark {\n}\nrecord P(int x) {}\nenum E { A }\n";
    assert_eq!(
        items(Language::Java, java),
        ["public final class A extends B", "@interface Mark", "record P(int x)", "enum E"]
    );
}

#[test]
fn markdown_headings_are_found_outside_code() {
    let text = "# One #\ntext\n## Two\n```sh\n# not this\n```\n#### too deep\n### Three\n#NoSpace\n~~~\n# nor this\n```\n~~~\n# Last\n";
    assert_eq!(items(Language::Markdown, text), ["# One", "## Two", "### Three", "# Last"]);
}

#[test]
fn long_signatures_and_long_lists_are_cut() {
    let long = format!("fn {}() {{}}\n", "x".repeat(500));
    assert!(items(Language::Rust, &long)[0].chars().count() <= MAX_ITEM_CHARS + 1);
    assert_eq!(items(Language::Rust, &"fn a() {}\n".repeat(5000)).len(), MAX_ITEMS);
}

#[test]
fn endings_choose_the_language() {
    assert_eq!(Language::of(Path::new("a/b.RS")), Some(Language::Rust));
    assert_eq!(Language::of(Path::new("a.tsx")), Some(Language::JavaScript));
    assert_eq!(Language::of(Path::new("Makefile")), None);
}

const LANGUAGES: [Language; 7] = [
    Language::Rust,
    Language::Python,
    Language::JavaScript,
    Language::Go,
    Language::C,
    Language::Java,
    Language::Markdown,
];

proptest! {
    #[test]
    fn no_text_makes_an_outline_panic(text in "(?s).{0,200}") {
        for language in LANGUAGES {
            items(language, &text);
        }
    }

    #[test]
    fn no_mixture_of_code_makes_an_outline_panic(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "fn ", "pub", "struct", "(", ")", "{", "}", "/*", "*/", "//", "\"", "\"\"\"", "'''", "\n", " ", "#", "###", "```", "é", "=",
            "=>", ";", ":", "class ", "def ", "#define ", "export ", "type ", "impl", "@interface", "template<", "::", "func ", "…",
        ]), 0..60)
    ) {
        for language in LANGUAGES {
            for item in items(language, &pieces.concat()) {
                prop_assert!(!item.contains('\n'));
                prop_assert!(item.chars().count() <= MAX_ITEM_CHARS + 1);
            }
        }
    }
}
