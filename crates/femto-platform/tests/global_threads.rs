//! The threads outside of every host can be limited, once.

use femto_platform::device::host::limit_global_threads;

// One test only: there is one global pool per process.
#[test]
fn the_first_limit_counts() {
    assert!(limit_global_threads(3));
    assert!(!limit_global_threads(2));
    assert_eq!(rayon::current_num_threads(), 3);
}
