//! Exact work of a ladder step, with accesses to shared memory.

use super::super::schedule::Sizes;
use super::{Benchmark, Step};
use crate::roofline::Work;
use crate::scalar::Precision;

impl Step {
    /// The work of one application to this many elements of the given degree.
    ///
    /// Bytes are those of Świrydowicz et al. 2019, table 2: factors and u once, v once, without the
    /// matrices and without temporaries in global memory
    /// ([`super::LadderKernel::scratch_reals_per_element`]). Flops are nominal. Shared memory counts every
    /// number that a thread reads or writes, according to the kernel text (eq. 13).
    pub fn work(&self, degree: u32, precision: Precision, elements: u32) -> Work {
        let sizes = self.benchmark.sizes(degree);
        let block = self.schedule.block_work(sizes);
        let elements = u64::from(elements);
        let (nodes, points) = (u64::from(sizes.nodes()), u64::from(sizes.points()));
        let factors = u64::from(self.benchmark.factors());
        let bytes = precision.bytes() as u64;
        Work {
            bytes_read: elements * (nodes + factors * points) * bytes,
            bytes_written: elements * nodes * bytes,
            flops: elements * self.nominal_flops(sizes),
            shared_bytes: elements * (block.reads + block.writes) * bytes,
            ..Work::default()
        }
    }

    /// Flops of one element, counting full 1-D matrices. BK5 is counted without its mass term, as in the
    /// paper.
    fn nominal_flops(&self, sizes: Sizes) -> u64 {
        let (q, g) = (u64::from(sizes.nodes_1d), u64::from(sizes.points_1d));
        let interpolation = 4 * (g * q.pow(3) + g * g * q * q + g.pow(3) * q);
        match self.benchmark {
            Benchmark::Bk1 => interpolation + g.pow(3),
            Benchmark::Bk5 => 12 * g.pow(4) + 15 * g.pow(3),
            Benchmark::Bk3 => interpolation + 12 * g.pow(4) + 19 * g.pow(3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    /// Świrydowicz et al. 2019, table 2, and design §5 at N = 7.
    #[test]
    fn work_is_the_published_one() {
        let work = |name: &str| {
            let step = find(name).expect("a published step");
            step.work(7, Precision::Fp64, 10)
        };
        let bk1 = work("bk1/layers/8");
        assert_eq!(bk1.bytes_read, 10 * (512 + 729) * 8);
        assert_eq!(bk1.bytes_written, 10 * 512 * 8);
        assert_eq!(bk1.flops, 10 * (4 * (4608 + 5184 + 5832) + 729));
        let bk5 = work("bk5/layers/10");
        assert_eq!(bk5.bytes_read, 10 * 8 * 512 * 8);
        assert_eq!(bk5.flops, 10 * (12 * 4096 + 15 * 512));
        let bk3 = work("bk3/cubes/9");
        assert_eq!(bk3.bytes_read, 10 * (512 + 7 * 729) * 8);
    }
}
