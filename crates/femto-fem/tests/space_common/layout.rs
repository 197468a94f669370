//! Checks of the layout documented in `Restriction`.

use femto_fem::space::{Block, Chunk, Space};

/// Checks everything documented in `Restriction` about its arrays.
pub(crate) fn check_layout(space: &Space) {
    check_layouts(&[space]);
}

/// Checks the restrictions of all blocks.
pub(crate) fn check_blocks(blocks: &[Block]) {
    let spaces: Vec<&Space> = blocks.iter().map(|block| &block.space).collect();
    check_layouts(&spaces);
}

fn check_layouts(spaces: &[&Space]) {
    let (nodes, first_interface) = (spaces[0].nodes(), spaces[0].first_interface());
    let mut private = 0;
    let mut touched = vec![0; nodes];
    for (number, space) in spaces.iter().enumerate() {
        let r = space.restriction();
        assert_eq!(r.elements(), space.elements());
        assert_eq!(r.nodes_per_element(), space.nodes_per_element());
        assert_eq!((r.block, r.blocks), (number, spaces.len()));
        assert_eq!((r.nodes, r.first_interface), (nodes, first_interface));

        let (mut element, mut interface) = (0, 0);
        let mut own = vec![0; nodes];
        for chunk in &r.chunks {
            assert!(!chunk.elements.is_empty());
            assert_eq!(chunk.elements.start, element);
            assert_eq!(chunk.private.start, private);
            assert_eq!(chunk.interface.start, interface);
            (element, private) = (chunk.elements.end, chunk.private.end);
            check_interior(space, chunk);
            interface = chunk.interface.end;
            assert!(r.interface[chunk.interface.clone()].is_sorted_by(|a, b| a < b));

            let mut nodes: Vec<u32> = (chunk.elements.clone())
                .flat_map(|e| space.element_nodes(e))
                .collect();
            nodes.sort_unstable();
            nodes.dedup();
            let expected = chunk.private.clone().map(|node| node as u32);
            let expected = expected.chain(r.interface[chunk.interface.clone()].iter().copied());
            assert_eq!(nodes, expected.collect::<Vec<u32>>());
            for node in nodes {
                own[node as usize] += 1;
            }
        }
        assert_eq!(element, space.elements());
        assert_eq!(interface, r.interface.len());
        for (node, &own) in own.iter().enumerate().skip(first_interface) {
            let sources = r.sources(node - first_interface);
            assert_eq!(sources.len(), own);
            assert!(sources.is_sorted_by(|a, b| a < b));
            let lists = |&s: &u32| r.interface[s as usize] as usize == node;
            assert!(sources.iter().all(lists));
        }
        for (node, (all, &own)) in touched.iter_mut().zip(&own).enumerate() {
            assert_eq!(r.touches(node), own > 0);
            *all += own;
        }
        assert_eq!(r.touched(), own.iter().filter(|&&own| own > 0).count());
    }
    assert_eq!(private, first_interface);
    for (node, &chunks) in touched.iter().enumerate() {
        assert_eq!(chunks > 1, node >= first_interface);
    }
}

/// The chunk's last private nodes are its elements' interiors in order; no shell node is there.
fn check_interior(space: &Space, chunk: &Chunk) {
    let r = space.restriction();
    assert_eq!(chunk.interior.end, chunk.private.end);
    assert!(chunk.private.start <= chunk.interior.start);
    let mut interior = chunk.interior.clone();
    for element in chunk.elements.clone() {
        let nodes = space.element_nodes(element);
        let of = |positions: &[u32]| -> Vec<usize> {
            let nodes = positions.iter().map(|&p| nodes[p as usize] as usize);
            nodes.collect()
        };
        let inside = of(&r.interior_positions);
        assert!(
            inside
                .iter()
                .copied()
                .eq(interior.by_ref().take(inside.len()))
        );
        let shell = of(&r.shell_positions);
        assert!(shell.iter().all(|node| !chunk.interior.contains(node)));
    }
    assert!(interior.is_empty());
}
