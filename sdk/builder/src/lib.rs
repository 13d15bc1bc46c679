//! Finds or makes a guest toolchain and builds extensions with it.
