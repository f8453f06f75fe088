//! From the matrix to the solvers: each module of the library has the file or folder of its name here.
//!
//! | module | where |
//! |---|---|
//! | design (and `genotypes`), loss (and `cox`), penalty, problem, search, certificate, error, file | here, by name |
//! | solver, published | `solver`, `solver/published` |
//! | relaxation | `problem/screening`, `search` and `solver` by what they claim; its parts beside their code |
//! | control | limits and interrupts in `solver/claims`, `solver/published/limits` and the modules that use them; memory in `memory.rs`, a binary of its own because it counts what all threads take |
//! | exact, leaps, sizes, subsets | `proof` |
//! | path, cv, criteria, select, groups, checkpoint, model | `model`, the last in `model/models` |
//! | the oracle of all of them (`tests/common`) | `oracle` |

mod certificate;
mod cox;
mod design;
mod error;
mod file;
mod genotypes;
mod loss;
mod multinomial;
mod oracle;
mod penalty;
mod problem;
mod search;
mod solver;
mod stored;
