//! Whole-product suites. Ids in comments are those of the acceptance list (`000-001`) and of the reliability cases (`C1`).

mod architecture;
mod calls;
mod contract;
mod limits;
mod load;
