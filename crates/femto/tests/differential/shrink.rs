//! Shrinks a failing case: simpler cases that still fail are taken until none is left.

use crate::case::{Case, Cell, Map};
use crate::tree::Tree;

/// Maximum number of cases tried.
const MOST: usize = 2000;

/// A smaller case for which `fails` still holds.
pub(crate) fn shrink(case: &Case, mut fails: impl FnMut(&Case) -> bool) -> Case {
    let mut best = case.clone();
    let mut tried = 0;
    loop {
        let mut simpler = simpler(&best).into_iter();
        let next = simpler.find(|candidate| {
            tried += 1;
            tried <= MOST && fails(candidate)
        });
        match next {
            Some(next) => best = next,
            None => return best,
        }
    }
}

/// Cases that are simpler in one respect, largest simplification first.
fn simpler(case: &Case) -> Vec<Case> {
    let mut simpler: Vec<Case> = sizes(case);
    let Some(trees) = case.trees() else {
        return simpler;
    };
    if case.components() > 1 {
        simpler.extend(one_component(case, &trees));
    }
    for output in 0..trees.len() {
        for node in 0..trees[output].size() {
            for simple in replacements(&trees[output], node) {
                let mut trees = trees.clone();
                trees[output] = simple;
                simpler.push(case.with_trees(&trees));
            }
        }
    }
    simpler
}

/// Fewer cells, a smaller space, fewer fields.
fn sizes(case: &Case) -> Vec<Case> {
    let mut simpler = Vec::new();
    let mut with = |is_simpler: bool, change: &dyn Fn(&mut Case)| {
        if is_simpler {
            let mut changed = case.clone();
            change(&mut changed);
            simpler.push(changed);
        }
    };
    with(case.cells > 1, &|case| case.cells = 1);
    with(case.cells > 2, &|case| case.cells -= 1);
    with(case.degree > 1, &|case| case.degree -= 1);
    with(case.map != Map::Affine, &|case| case.map = Map::Affine);
    with(
        case.map == Map::Curved && case.cell == Cell::Hexahedron,
        &|case| case.map = Map::Trilinear,
    );
    with(case.exact > case.least_exact(), &|case| case.exact -= 1);
    with(case.by_component, &|case| case.by_component = false);
    with(case.partial, &|case| case.partial = false);
    with(case.single, &|case| case.single = false);
    // Drops the last ones; if a text still names them it does not parse, which is not a failure.
    with(!case.fields.is_empty(), &|case| {
        case.fields.pop();
    });
    with(case.parameters > 0, &|case| case.parameters -= 1);
    simpler.retain(|case| case.trees().is_some());
    simpler
}

/// A form with one of the components' outputs, reading its own inputs in place of the others'.
fn one_component(case: &Case, trees: &[Tree]) -> Vec<Case> {
    let (components, dim) = (case.components(), case.cell.dim());
    let of = |component: usize| {
        let mut own = vec![trees[component].clone()];
        own.extend_from_slice(&trees[components + dim * component..][..dim]);
        own.iter_mut().for_each(first_component);
        let zero = "0".to_owned();
        let single = Case {
            f0: vec![zero.clone()],
            f1: vec![vec![zero; dim]],
            ..case.clone()
        };
        single.with_trees(&own)
    };
    (0..components).map(of).collect()
}

fn first_component(tree: &mut Tree) {
    use femto::kernel::expr::Input;
    if let Tree::Input(Input::Value(component) | Input::Gradient { component, .. }) = tree {
        *component = 0;
    }
    tree.parts_mut().into_iter().for_each(first_component);
}

/// Trees in which one node, by its position in the text, is replaced by one of its parts or by a number.
fn replacements(tree: &Tree, node: usize) -> Vec<Tree> {
    let mut place = node;
    let Some(found) = at(tree, &mut place) else {
        return Vec::new();
    };
    let mut simple: Vec<Tree> = match found {
        Tree::Number(value) if *value == 0.0 || *value == 1.0 => Vec::new(),
        Tree::Number(_) => vec![Tree::Number(1.0)],
        _ => vec![Tree::Number(0.0), Tree::Number(1.0)],
    };
    simple.extend(found.parts().into_iter().cloned());
    let put = |new: Tree| {
        let (mut tree, mut place) = (tree.clone(), node);
        if let Some(old) = at_mut(&mut tree, &mut place) {
            *old = new;
        }
        tree
    };
    simple.into_iter().map(put).collect()
}

fn at<'a>(tree: &'a Tree, place: &mut usize) -> Option<&'a Tree> {
    if *place == 0 {
        return Some(tree);
    }
    *place -= 1;
    tree.parts().into_iter().find_map(|part| at(part, place))
}

fn at_mut<'a>(tree: &'a mut Tree, place: &mut usize) -> Option<&'a mut Tree> {
    if *place == 0 {
        return Some(tree);
    }
    *place -= 1;
    tree.parts_mut()
        .into_iter()
        .find_map(|part| at_mut(part, place))
}

#[test]
fn irrelevant_parts_are_dropped() {
    let case = crate::random::case(7);
    let mut case = Case {
        cell: Cell::Hexahedron,
        cells: 2,
        degree: 3,
        ..case
    };
    case.f0 = vec![
        "(sin((u0 * t)) + (3.5 * exp(u1)))".to_owned(),
        "u0".to_owned(),
    ];
    case.f1 = vec![vec!["u1_z".to_owned(); 3]; 2];
    let small = shrink(&case, |case| {
        case.f0.iter().any(|text| text.contains("exp("))
    });
    assert_eq!((small.cells, small.degree, small.components()), (1, 1, 1));
    assert_eq!(small.f0, ["exp(0.0)"]);
    assert_eq!(small.f1, [["0.0", "0.0", "0.0"]]);
}
