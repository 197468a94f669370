//! The measured errors: cell, map, rule, degree; L2 error and H1 seminorm of the error on the fine mesh, and in a
//! comment their orders.

use femto::Quadrature::{self, Collocated, Gauss};
use femto_element::Cell::{self, Hexahedron, Quadrilateral, Tetrahedron, Triangle};
use femto_element::MapKind::{self, Affine, Curved, Multilinear};

type Row = (Cell, MapKind, Quadrature, usize, [f64; 2]);

/// In the order of the tests.
#[rustfmt::skip]
pub(super) const TABLE: &[Row] = &[
    (Hexahedron, Affine, Gauss, 1, [2.081e-3, 8.763e-2]), // 1.99 1.01
    (Hexahedron, Affine, Gauss, 2, [4.939e-5, 3.924e-3]), // 3.00 2.00
    (Hexahedron, Affine, Gauss, 3, [3.587e-6, 2.776e-4]), // 3.99 2.99
    (Hexahedron, Affine, Gauss, 4, [6.944e-8, 7.024e-6]), // 4.99 4.00
    (Hexahedron, Affine, Gauss, 5, [6.897e-8, 4.302e-6]), // 5.97 4.97
    (Hexahedron, Affine, Gauss, 6, [1.987e-9, 1.471e-7]), // 6.99 5.99
    (Hexahedron, Affine, Gauss, 7, [4.748e-11, 4.070e-9]), // 7.97 6.97
    (Hexahedron, Affine, Gauss, 8, [1.090e-12, 1.052e-10]), // 8.98 7.99
    (Hexahedron, Multilinear, Gauss, 1, [2.380e-3, 9.808e-2]), // 1.99 1.01
    (Hexahedron, Multilinear, Gauss, 2, [5.569e-5, 4.373e-3]), // 3.02 2.01
    (Hexahedron, Multilinear, Gauss, 3, [4.549e-6, 3.325e-4]), // 3.99 2.99
    (Hexahedron, Multilinear, Gauss, 4, [9.858e-8, 9.373e-6]), // 5.00 4.00
    (Hexahedron, Multilinear, Gauss, 5, [1.152e-7, 6.597e-6]), // 5.99 4.98
    (Hexahedron, Multilinear, Gauss, 6, [3.924e-9, 2.628e-7]), // 6.99 5.98
    (Hexahedron, Multilinear, Gauss, 7, [1.132e-10, 8.652e-9]), // 7.99 6.98
    (Hexahedron, Multilinear, Gauss, 8, [3.110e-12, 2.659e-10]), // 8.99 7.98
    (Hexahedron, Curved, Gauss, 1, [2.415e-3, 9.704e-2]), // 1.99 1.01
    (Hexahedron, Curved, Gauss, 2, [6.924e-5, 5.464e-3]), // 2.98 1.99
    (Hexahedron, Curved, Gauss, 3, [6.372e-6, 4.889e-4]), // 3.96 2.97
    (Hexahedron, Curved, Gauss, 4, [2.044e-7, 2.051e-5]), // 4.86 3.87
    (Hexahedron, Curved, Gauss, 5, [2.778e-7, 1.729e-5]), // 5.97 5.00
    (Hexahedron, Curved, Gauss, 6, [1.409e-8, 1.028e-6]), // 7.22 6.24
    (Hexahedron, Curved, Gauss, 7, [4.939e-10, 4.213e-8]), // 8.53 7.54
    (Hexahedron, Curved, Gauss, 8, [2.372e-11, 2.290e-9]), // 9.27 8.28
    (Hexahedron, Affine, Collocated, 1, [2.236e-3, 8.771e-2]), // 1.99 1.01
    (Hexahedron, Affine, Collocated, 2, [4.960e-5, 3.928e-3]), // 3.01 2.00
    (Hexahedron, Affine, Collocated, 3, [3.601e-6, 2.778e-4]), // 4.00 3.00
    (Hexahedron, Affine, Collocated, 4, [6.955e-8, 7.027e-6]), // 5.00 4.00
    (Hexahedron, Affine, Collocated, 5, [6.919e-8, 4.307e-6]), // 5.98 4.98
    (Hexahedron, Affine, Collocated, 6, [1.990e-9, 1.472e-7]), // 6.99 5.99
    (Hexahedron, Affine, Collocated, 7, [4.755e-11, 4.072e-9]), // 7.98 6.98
    (Hexahedron, Affine, Collocated, 8, [1.090e-12, 1.052e-10]), // 8.98 7.99
    (Hexahedron, Multilinear, Collocated, 1, [2.507e-3, 9.822e-2]), // 1.99 1.01
    (Hexahedron, Multilinear, Collocated, 2, [5.645e-5, 4.401e-3]), // 3.03 2.01
    (Hexahedron, Multilinear, Collocated, 3, [4.653e-6, 3.385e-4]), // 4.00 3.00
    (Hexahedron, Multilinear, Collocated, 4, [1.002e-7, 9.513e-6]), // 5.01 4.00
    (Hexahedron, Multilinear, Collocated, 5, [1.168e-7, 6.687e-6]), // 5.99 4.99
    (Hexahedron, Multilinear, Collocated, 6, [3.969e-9, 2.660e-7]), // 6.99 5.98
    (Hexahedron, Multilinear, Collocated, 7, [1.143e-10, 8.754e-9]), // 7.99 6.98
    (Hexahedron, Multilinear, Collocated, 8, [3.136e-12, 2.690e-10]), // 8.99 7.98
    (Hexahedron, Curved, Collocated, 1, [2.568e-3, 9.714e-2]), // 1.98 1.01
    (Hexahedron, Curved, Collocated, 2, [6.960e-5, 5.468e-3]), // 3.00 1.99
    (Hexahedron, Curved, Collocated, 3, [6.412e-6, 4.895e-4]), // 3.98 2.97
    (Hexahedron, Curved, Collocated, 4, [2.051e-7, 2.052e-5]), // 4.87 3.87
    (Hexahedron, Curved, Collocated, 5, [2.810e-7, 1.738e-5]), // 6.01 5.02
    (Hexahedron, Curved, Collocated, 6, [1.422e-8, 1.033e-6]), // 7.25 6.26
    (Hexahedron, Curved, Collocated, 7, [5.025e-10, 4.259e-8]), // 8.55 7.55
    (Hexahedron, Curved, Collocated, 8, [2.398e-11, 2.304e-9]), // 9.31 8.31
    (Quadrilateral, Affine, Gauss, 1, [5.787e-4, 5.242e-2]), // 2.00 1.00
    (Quadrilateral, Affine, Gauss, 2, [7.671e-6, 1.195e-3]), // 3.00 2.00
    (Quadrilateral, Affine, Gauss, 3, [2.884e-7, 4.384e-5]), // 4.00 3.00
    (Quadrilateral, Affine, Gauss, 4, [9.063e-8, 9.005e-6]), // 4.99 3.99
    (Quadrilateral, Affine, Gauss, 5, [1.442e-9, 1.765e-7]), // 5.99 4.99
    (Quadrilateral, Affine, Gauss, 6, [2.683e-9, 1.950e-7]), // 6.99 5.99
    (Quadrilateral, Affine, Gauss, 7, [2.545e-12, 3.209e-10]), // 7.99 6.99
    (Quadrilateral, Affine, Gauss, 8, [1.500e-12, 1.432e-10]), // 8.99 7.99
    (Quadrilateral, Multilinear, Gauss, 1, [6.793e-4, 5.686e-2]), // 1.99 1.00
    (Quadrilateral, Multilinear, Gauss, 2, [8.669e-6, 1.360e-3]), // 2.99 1.98
    (Quadrilateral, Multilinear, Gauss, 3, [4.185e-7, 5.687e-5]), // 4.00 3.00
    (Quadrilateral, Multilinear, Gauss, 4, [1.475e-7, 1.318e-5]), // 4.77 3.82
    (Quadrilateral, Multilinear, Gauss, 5, [3.309e-9, 3.482e-7]), // 5.93 4.93
    (Quadrilateral, Multilinear, Gauss, 6, [5.371e-9, 3.500e-7]), // 6.61 5.69
    (Quadrilateral, Multilinear, Gauss, 7, [9.928e-12, 1.049e-9]), // 7.82 6.83
    (Quadrilateral, Multilinear, Gauss, 8, [4.687e-12, 3.894e-10]), // 8.32 7.42
    (Quadrilateral, Curved, Gauss, 1, [6.171e-4, 5.333e-2]), // 2.00 1.00
    (Quadrilateral, Curved, Gauss, 2, [7.537e-6, 1.176e-3]), // 3.00 2.00
    (Quadrilateral, Curved, Gauss, 3, [3.380e-7, 4.818e-5]), // 4.00 3.00
    (Quadrilateral, Curved, Gauss, 4, [1.126e-7, 1.073e-5]), // 4.89 3.92
    (Quadrilateral, Curved, Gauss, 5, [2.316e-9, 2.641e-7]), // 6.09 5.07
    (Quadrilateral, Curved, Gauss, 6, [3.965e-9, 2.761e-7]), // 7.72 6.62
    (Quadrilateral, Curved, Gauss, 7, [8.177e-12, 9.434e-10]), // 7.68 6.74
    (Quadrilateral, Curved, Gauss, 8, [5.140e-12, 4.463e-10]), // 9.41 8.35
    (Quadrilateral, Affine, Collocated, 1, [5.297e-4, 5.244e-2]), // 2.00 1.00
    (Quadrilateral, Affine, Collocated, 2, [7.681e-6, 1.196e-3]), // 3.00 2.00
    (Quadrilateral, Affine, Collocated, 3, [2.887e-7, 4.385e-5]), // 4.00 3.00
    (Quadrilateral, Affine, Collocated, 4, [9.073e-8, 9.008e-6]), // 5.00 4.00
    (Quadrilateral, Affine, Collocated, 5, [1.443e-9, 1.766e-7]), // 5.99 4.99
    (Quadrilateral, Affine, Collocated, 6, [2.687e-9, 1.951e-7]), // 6.99 5.99
    (Quadrilateral, Affine, Collocated, 7, [2.546e-12, 3.210e-10]), // 7.99 6.99
    (Quadrilateral, Affine, Collocated, 8, [1.502e-12, 1.432e-10]), // 9.00 7.99
    (Quadrilateral, Multilinear, Collocated, 1, [7.534e-4, 5.699e-2]), // 2.00 1.00
    (Quadrilateral, Multilinear, Collocated, 2, [8.719e-6, 1.366e-3]), // 3.00 1.99
    (Quadrilateral, Multilinear, Collocated, 3, [4.235e-7, 5.776e-5]), // 4.00 3.00
    (Quadrilateral, Multilinear, Collocated, 4, [1.492e-7, 1.333e-5]), // 4.78 3.83
    (Quadrilateral, Multilinear, Collocated, 5, [3.318e-9, 3.504e-7]), // 5.94 4.93
    (Quadrilateral, Multilinear, Collocated, 6, [5.400e-9, 3.525e-7]), // 6.62 5.69
    (Quadrilateral, Multilinear, Collocated, 7, [9.932e-12, 1.053e-9]), // 7.82 6.83
    (Quadrilateral, Multilinear, Collocated, 8, [4.697e-12, 3.912e-10]), // 8.33 7.42
    (Quadrilateral, Curved, Collocated, 1, [5.935e-4, 5.335e-2]), // 2.00 1.00
    (Quadrilateral, Curved, Collocated, 2, [7.547e-6, 1.177e-3]), // 3.00 2.00
    (Quadrilateral, Curved, Collocated, 3, [3.383e-7, 4.819e-5]), // 4.00 3.00
    (Quadrilateral, Curved, Collocated, 4, [1.128e-7, 1.073e-5]), // 4.89 3.92
    (Quadrilateral, Curved, Collocated, 5, [2.318e-9, 2.642e-7]), // 6.10 5.07
    (Quadrilateral, Curved, Collocated, 6, [3.981e-9, 2.766e-7]), // 7.72 6.63
    (Quadrilateral, Curved, Collocated, 7, [8.186e-12, 9.442e-10]), // 7.69 6.74
    (Quadrilateral, Curved, Collocated, 8, [5.161e-12, 4.480e-10]), // 9.42 8.35
    (Tetrahedron, Affine, Gauss, 1, [1.906e-2, 4.692e-1]), // 1.84 0.94
    (Tetrahedron, Affine, Gauss, 2, [9.446e-4, 5.682e-2]), // 3.03 1.91
    (Tetrahedron, Affine, Gauss, 3, [1.311e-4, 7.919e-3]), // 4.08 2.97
    (Tetrahedron, Curved, Gauss, 1, [1.988e-2, 4.638e-1]), // 1.83 0.94
    (Tetrahedron, Curved, Gauss, 2, [1.005e-3, 5.815e-2]), // 3.03 1.90
    (Tetrahedron, Curved, Gauss, 3, [1.537e-4, 8.841e-3]), // 4.05 2.95
    (Triangle, Affine, Gauss, 1, [6.579e-4, 6.474e-2]), // 2.01 1.00
    (Triangle, Affine, Gauss, 2, [4.865e-5, 4.433e-3]), // 2.98 1.99
    (Triangle, Affine, Gauss, 3, [2.133e-6, 2.246e-4]), // 4.04 3.02
    (Triangle, Curved, Gauss, 1, [6.824e-4, 6.399e-2]), // 2.01 1.01
    (Triangle, Curved, Gauss, 2, [5.043e-5, 4.514e-3]), // 2.97 1.99
    (Triangle, Curved, Gauss, 3, [2.414e-6, 2.521e-4]), // 4.04 3.01
];
