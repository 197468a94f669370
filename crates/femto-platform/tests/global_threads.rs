//! The threads of rayon's global pool, tested in a separate process.

use femto_platform::device::host::start_global_threads;

#[test]
fn the_first_call_counts() {
    start_global_threads(Some(3)).expect("threads to start");
    start_global_threads(Some(2)).expect("a pool at work is no error");
    assert_eq!(rayon::current_num_threads(), 3);
}
