//! Events and graphs.

use super::{compile, launch_axpy, read};
use crate::device::accelerator::{Accelerator, Event};
use crate::device::{Device, DeviceError};
use std::thread;

/// Times do not go backwards, and work takes time.
pub fn events_are_in_order(device: &Accelerator) {
    let axpy = compile(device).kernel("axpy").unwrap();
    let g_x = device.upload(&vec![1.0; 300_000]).unwrap();
    let mut g_y = device.zeros(300_000).unwrap();
    let events = <[Event; 4]>::default();
    let error = device.seconds_between(&events[0], &events[1]);
    assert_eq!(error, Err(DeviceError::NotRecorded));
    // Twice: an event may be recorded again.
    for _ in 0..2 {
        for event in &events {
            device.record(event).unwrap();
            launch_axpy(device, &axpy, 1.0, &g_x, &mut g_y);
        }
        for pair in events.windows(2) {
            let seconds = device.seconds_between(&pair[0], &pair[1]).unwrap();
            assert!(seconds > 0.0 && seconds < 60.0, "{seconds} s");
            let back = device.seconds_between(&pair[1], &pair[0]).unwrap();
            assert!((seconds + back).abs() <= 1e-6, "{seconds} s, back {back} s");
        }
    }
    assert_eq!(read(device, &g_y)[299_999], 8.0);
}

/// A launch graph does the same work as direct launches, even if its kernel and buffers have no other
/// owner.
pub fn a_launch_graph_equals_the_work(device: &Accelerator) {
    let axpy = compile(device).kernel("axpy").unwrap();
    let g_x = device.upload(&[1.0; 100]).unwrap();
    let mut g_y = device.upload(&[0.5; 100]).unwrap();
    let mut g_copy = device.upload(&[f64::NAN; 100]).unwrap();
    let captured = device.capture(&mut || {
        launch_axpy(device, &axpy, 1.0, &g_x, &mut g_y);
        launch_axpy(device, &axpy, 2.0, &g_x, &mut g_y);
        device.copy(&g_y, &mut g_copy)
    });
    if !device.features().graphs {
        let error = captured.unwrap_err();
        assert!(matches!(error, DeviceError::Unsupported { .. }), "{error}");
        return;
    }
    let graph = captured.unwrap();
    assert_eq!(read(device, &g_y), [0.5; 100]);
    drop((axpy, g_x));
    for launches in 1..4 {
        device.launch_graph(&graph).unwrap();
        assert_eq!(
            read(device, &g_copy),
            [0.5 + 3.0 * f64::from(launches); 100]
        );
    }
    // A capture that fails leaves the device usable.
    let mut refused = || device.read(&g_y, &mut [0.0; 100]);
    assert!(device.capture(&mut refused).is_err());
    assert_eq!(read(device, &g_y), [9.5; 100]);
}

/// Threads that capture as soon as they may leave each other's captures alone, also when they release graphs and
/// buffers.
pub fn captures_of_two_threads_are_apart(device: &Accelerator) {
    if !device.features().graphs {
        return;
    }
    let capture = |value: f64| {
        let mut g_y = device.upload(&[value; 100]).unwrap();
        move || {
            let mut captures = 0;
            while captures < 200 {
                let mut has_begun = false;
                let captured = device.capture(&mut || {
                    has_begun = true;
                    device.fill_zero(&mut g_y, 0..100)
                });
                match captured {
                    // The other thread may be capturing by now.
                    Ok(graph) => {
                        drop(graph);
                        captures += 1;
                    }
                    // The other thread captures.
                    Err(DeviceError::Unsupported { .. }) if !has_begun => thread::yield_now(),
                    Err(error) => panic!("{error}"),
                }
            }
        }
    };
    let bodies = [1.0, 2.0].map(capture);
    thread::scope(|scope| {
        for body in bodies {
            scope.spawn(body);
        }
    });
}
