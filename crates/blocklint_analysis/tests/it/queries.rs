//! The query kernel of the linker: answers, cycles, cuts, and the answers that each policy keeps.

use std::cell::Cell;

use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Cut, Plain, Step, Table, UnkeptEmptyMeanwhile, UnkeptStep};
use blocklint_link::linker::round::{First, Round, RoundOnly, RoundTable};
use blocklint_link::models::library::Library;

use blocklint_link::program::{Layout, Names, Program};
use blocklint_models::Models;

/// Runs a test with the linker of an empty program.
fn with_linker(test: impl FnOnce(&Linker<'_>)) {
    let (layout, names, models) = (Layout::default(), Names::default(), Models::builtin());
    let program = Program::new(&[], &layout, &names);
    test(&Linker::new(&program, Library::new(&models)));
}

/// Returns a number that shows why a query was cut.
fn number_of_cut(cut: Cut) -> u32 {
    match cut {
        Cut::Cycle => 100,
        Cut::Bound => 10_000,
    }
}

#[test]
fn an_answer_is_computed_once() {
    with_linker(|linker| {
        let (steps, lists, computed) =
            (Table::<u32, u32, Step>::default(), Table::<u32, u32, Plain>::default(), Cell::new(0));
        let compute = || {
            computed.set(computed.get() + 1);
            7
        };
        assert_eq!([0; 3].map(|key| linker.query_or_cut(&steps, key, number_of_cut, compute)), [7; 3]);
        assert_eq!(computed.get(), 1);
        assert_eq!([0; 3].map(|key| linker.query_or_cut(&lists, key, number_of_cut, compute)), [7; 3]);
        assert_eq!(computed.get(), 2);
        linker.query_or_cut(&steps, 1, number_of_cut, compute);
        assert_eq!(computed.get(), 3, "each key has an answer of its own");
    });
}

/// Queries a ring of four keys: the answer of each key is at least the answer of the next key. Key 2 also depends on
/// key 1, so that two cycles share keys.
fn query_in_cycles(linker: &Linker<'_>, table: &Table<u32, u32, Step>, key: u32, computed: &Cell<u32>) -> u32 {
    linker.query(
        table,
        key,
        || 0,
        || {
            computed.set(computed.get() + 1);
            let next = query_in_cycles(linker, table, (key + 1) % 4, computed);
            let back = if key == 2 { query_in_cycles(linker, table, 1, computed) } else { 0 };
            next.max(back).max([3, 9, 4, 5][key as usize])
        },
    )
}

#[test]
fn queries_in_a_cycle_have_equal_answers_from_each_start() {
    for start in 0..4 {
        with_linker(|linker| {
            let (table, computed) = (Table::default(), Cell::new(0));
            assert_eq!(query_in_cycles(linker, &table, start, &computed), 9);
            let rounds = computed.get();
            assert!(rounds <= 12, "{rounds}");
            assert_eq!([0, 1, 2, 3].map(|key| query_in_cycles(linker, &table, key, &computed)), [9; 4]);
            assert_eq!(computed.get(), rounds, "the answers of all are kept");
        });
    }
}

#[test]
fn an_answer_that_depends_on_a_running_query_is_provisional() {
    with_linker(|linker| {
        let (steps, lists, computed) =
            (Table::<u32, u32, Step>::default(), Table::<u32, u32, Plain>::default(), Cell::new(0));
        let list = || {
            linker.query(
                &lists,
                0,
                || 100,
                || {
                    computed.set(computed.get() + 1);
                    linker.query(&steps, 0, || 0, || unreachable!("it runs")) + 1
                },
            )
        };
        // The first round has 0 + 1, the second 1 + 1, and so on, until the rounds end.
        let answer = linker.query(&steps, 0, || 0, || list().min(3) + list() - list());
        assert_eq!((answer, computed.get()), (3, 4), "in one round it is computed once");
        assert_eq!((list(), computed.get()), (4, 4), "the answer of the last round is kept");
    });
}

#[test]
fn answers_that_alternate_end() {
    with_linker(|linker| {
        let table = Table::<u32, u32, Step>::default();
        let alternate = || 1 - linker.query(&table, 0, || 0, || unreachable!("it runs"));
        let answer = linker.query(&table, 0, || 0, alternate);
        assert_eq!(linker.query(&table, 0, || 5, || unreachable!("it is kept")), answer);
    });
}

#[test]
fn a_recursive_list_is_computed_once_more() {
    with_linker(|linker| {
        let (table, computed) = (Table::<u32, u32, Plain>::default(), Cell::new(0));
        let compute = || {
            computed.set(computed.get() + 1);
            linker.query_or_cut(&table, 0, number_of_cut, || 5) + 1
        };
        assert_eq!(linker.query_or_cut(&table, 0, number_of_cut, compute), 6);
        assert_eq!((computed.get(), linker.query_or_cut(&table, 0, number_of_cut, || 0)), (1, 6));
    });
}

#[test]
fn an_unkept_list_is_empty_meanwhile() {
    with_linker(|linker| {
        let unkept = Table::<u32, u32, UnkeptEmptyMeanwhile>::default();
        let query_twice = || {
            let again = || linker.query(&unkept, 0, || 0, || unreachable!("it runs")) + 1;
            linker.query(&unkept, 0, || 0, again)
        };
        assert_eq!((query_twice(), linker.query(&unkept, 0, || 0, || 9)), (1, 9));
    });
}

#[test]
fn an_unkept_step_notices_a_cycle_and_keeps_nothing() {
    with_linker(|linker| {
        let table = Table::<u32, u32, UnkeptStep>::default();
        let again = || linker.query_or_cut(&table, 0, number_of_cut, || unreachable!("it runs"));
        assert_eq!(linker.query_or_cut(&table, 0, number_of_cut, again), 100);
        assert_eq!(linker.query_or_cut(&table, 0, number_of_cut, || 3), 3);
    });
}

/// Queries each key from the key before it, without end.
fn query_without_end(linker: &Linker<'_>, table: &Table<u32, u32, Step>, key: u32) -> u32 {
    linker.query_or_cut(table, key, number_of_cut, || query_without_end(linker, table, key + 1))
}

#[test]
fn the_budget_ends_a_query_and_the_next_query_has_a_new_budget() {
    with_linker(|linker| {
        let table = Table::default();
        assert_eq!(query_without_end(linker, &table, 0), 10_000);
        assert_eq!(linker.query_or_cut(&table, 0, number_of_cut, || 1), 10_000, "the outermost keeps its answer");
        assert_eq!(linker.query_or_cut(&table, 1, number_of_cut, || 1), 1, "those that waited do not");
    });
}

/// Queries a cycle of three keys within a round.
fn query_cycle_in_round(round: &Round, table: &RoundTable<u32, u32, First>, key: u32, computed: &Cell<u32>) -> u32 {
    round.query(
        table,
        key,
        || 100,
        || {
            computed.set(computed.get() + 1);
            1 + query_cycle_in_round(round, table, (key + 1) % 3, computed)
        },
    )
}

#[test]
fn answers_within_a_round_are_kept_for_the_first_query_only() {
    let (round, table, computed) = (Round::default(), RoundTable::default(), Cell::new(0));
    assert_eq!(query_cycle_in_round(&round, &table, 0, &computed), 103);
    assert_eq!((query_cycle_in_round(&round, &table, 0, &computed), computed.get()), (103, 3));
    // The answers of 1 and 2 were found within the query of 0, so they are computed again.
    assert_eq!((query_cycle_in_round(&round, &table, 1, &computed), computed.get()), (105, 5));
    let answers = RoundTable::<u32, u32, RoundOnly>::default();
    let sum = round.query(
        &answers,
        0,
        || 0,
        || {
            let inner = || {
                round.query(
                    &answers,
                    1,
                    || 0,
                    || {
                        computed.set(computed.get() + 1);
                        1
                    },
                )
            };
            inner() + inner()
        },
    );
    assert_eq!((sum, computed.get()), (2, 6), "the second time it is known");
    assert_eq!(round.query(&answers, 0, || 0, || 8), 8, "nothing is kept for the next question");
}

#[test]
fn a_round_ends_at_its_depth() {
    fn query_next(round: &Round, table: &RoundTable<u32, u32, First>, key: u32) -> u32 {
        round.query(table, key, || 0, || 1 + query_next(round, table, key + 1))
    }
    assert_eq!(query_next(&Round::with_max_depth(5), &RoundTable::default(), 0), 5);
}
