//! Whole-product suites and their harness.
