//! hex_published: the ladders of BK1, BK5 and BK3 on hexahedra (Świrydowicz et al. 2019).
//!
//! [`ladder`] holds the published sequences of steps, makes kernel text of them and counts their work;
//! [`schedule`] the frozen values that tell one step from the next. They run on E-vectors with stored
//! factors, for comparison: operators use [`sum_factorization`](super::sum_factorization).

pub mod ladder;
pub mod schedule;
