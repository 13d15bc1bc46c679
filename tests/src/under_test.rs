//! The product, for the suites to drive.

fn main() -> std::process::ExitCode {
    capstan_cli::main()
}
