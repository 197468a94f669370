//! hex_published: the ladders of BK1, BK5 and BK3 on hexahedra (Świrydowicz et al. 2019).
//!
//! [`ladder`] has the published sequences of steps, their kernel texts and their work; [`schedule`] the
//! immutable values that distinguish the steps. They run on E-vectors with stored factors, for comparison:
//! operators use [`sum_factorization`](super::sum_factorization).

pub mod ladder;
pub mod schedule;
