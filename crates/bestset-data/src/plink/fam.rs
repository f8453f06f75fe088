//! People, and the trait that a `.fam` file has of them.

use super::lines::{Divider, each, is_missing};
use crate::error::{FileError, Result, quoted};
use std::collections::HashSet;
use std::path::Path;

/// A person as a line of a `.fam` file has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Name of the family.
    pub family: String,
    /// Name within it.
    pub name: String,
    /// The trait of the file.
    pub phenotype: String,
}

/// The people of a `.fam` file.
pub fn read(path: &Path) -> Result<Vec<Person>> {
    let (mut people, mut seen) = (Vec::new(), HashSet::new());
    each(path, |line, text| {
        let bad = |problem: String| FileError::new(path, problem).at_line(line);
        let fields = Divider::Blanks.fields(text);
        let [family, name, _, _, _, phenotype] = fields[..] else {
            let problem = format!(
                "a person has six fields (FID, IID, father, mother, sex, phenotype), not {}: {}",
                fields.len(),
                quoted(text)
            );
            return Err(bad(problem).into());
        };
        if !seen.insert((family.to_owned(), name.to_owned())) {
            return Err(bad(format!("FID {} and IID {} occur twice", quoted(family), quoted(name))).into());
        }
        let [family, name, phenotype] = [family, name, phenotype].map(str::to_owned);
        people.push(Person { family, name, phenotype });
        Ok(())
    })?;
    match people.is_empty() {
        true => Err(FileError::new(path, "there are no people").into()),
        false => Ok(people),
    }
}

/// The trait of a `.fam` file: −9 is not known, nor is 0 where the others are 1 and 2, controls and cases.
pub fn phenotype(people: &[Person]) -> (String, Vec<Option<String>>) {
    let is_status = people.iter().all(|p| is_missing(&p.phenotype) || ["0", "1", "2"].contains(&p.phenotype.as_str()));
    let has_both = ["1", "2"].iter().all(|code| people.iter().any(|p| p.phenotype == *code));
    let known = |p: &Person| {
        let gone = is_missing(&p.phenotype) || (is_status && has_both && p.phenotype == "0");
        (!gone).then(|| p.phenotype.clone())
    };
    ("phenotype".to_owned(), people.iter().map(known).collect())
}
