//! Knobs: numbers of kernels' schedules that can be set by name, for sweeps.

use super::FamilyId;
use core::str::FromStr;

/// A number of a family's schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Its name.
    pub name: &'static str,
    /// The largest number allowed.
    pub most: u32,
}

/// Most knobs that can be set together.
const MOST: usize = 16;

/// Numbers for some knobs, in place of the measured ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Knobs([Option<(&'static str, u32)>; MOST]);

/// A list of knobs that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KnobsError {
    /// Not `name=number`, or an unknown name or number.
    #[error("`{part}` is not a knob; expected `best`, or NAME=NUMBER joined by `+`, of {names}", names = names())]
    Unknown {
        /// The part of the list.
        part: String,
    },
    /// A knob that is there twice.
    #[error("`{name}` is given twice")]
    Twice {
        /// Its name.
        name: &'static str,
    },
}

/// The knobs of all families.
fn all() -> impl Iterator<Item = &'static Knob> {
    FamilyId::ALL.iter().flat_map(|family| family.knobs())
}

fn names() -> String {
    let mut names: Vec<Knob> = Vec::new();
    for knob in all() {
        match names.iter_mut().find(|known| known.name == knob.name) {
            Some(known) => known.most = known.most.max(knob.most),
            None => names.push(*knob),
        }
    }
    let names = names.iter();
    let names = names.map(|Knob { name, most }| format!("{name}=0..{most}"));
    names.collect::<Vec<_>>().join(", ")
}

impl FamilyId {
    /// Whether kernels of the family have a knob.
    pub fn has_knob(self, name: &str) -> bool {
        self.knobs().iter().any(|knob| knob.name == name)
    }
}

impl Knobs {
    /// Whether none is set.
    pub fn is_empty(&self) -> bool {
        self.names().next().is_none()
    }

    /// The names of those that are set.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().flatten().map(|&(name, _)| name)
    }

    /// The number set for a knob.
    pub fn get(&self, name: &str) -> Option<u32> {
        let mut set = self.0.iter().flatten();
        set.find(|(other, _)| *other == name)
            .map(|&(_, number)| number)
    }
}

/// `name=number`, joined by `+`; `best` for none.
impl FromStr for Knobs {
    type Err = KnobsError;

    fn from_str(text: &str) -> Result<Self, KnobsError> {
        let mut knobs = Self::default();
        if text == "best" {
            return Ok(knobs);
        }
        for (n, part) in text.split('+').enumerate() {
            let wrong = || KnobsError::Unknown {
                part: part.to_owned(),
            };
            let (name, number) = part.split_once('=').ok_or_else(wrong)?;
            let number: u32 = number.parse().map_err(|_| wrong())?;
            let is_it = |knob: &&Knob| knob.name == name && number <= knob.most;
            let Knob { name, .. } = all().find(is_it).ok_or_else(wrong)?;
            if knobs.get(name).is_some() {
                return Err(KnobsError::Twice { name });
            }
            *knobs.0.get_mut(n).ok_or_else(wrong)? = Some((name, number));
        }
        // The same knobs are equal in any order.
        knobs.0.sort_unstable();
        Ok(knobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_knob_is_named() {
        for (text, part) in [
            ("blocks=2+stage=1", "`stage=1`"),
            ("staged=2", "`staged=2`"),
            ("staged", "`staged`"),
            ("blocks=-1", "`blocks=-1`"),
            ("", "``"),
        ] {
            let message = text.parse::<Knobs>().unwrap_err().to_string();
            assert!(
                message.contains(part) && message.contains("staged=0..1"),
                "{message}"
            );
        }
        let twice = "blocks=3+blocks=4".parse::<Knobs>();
        assert_eq!(twice.unwrap_err(), KnobsError::Twice { name: "blocks" });
    }
}
