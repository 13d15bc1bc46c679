//! The `capstan` command; everything is in the library.

fn main() -> std::process::ExitCode {
    capstan_cli::main()
}
