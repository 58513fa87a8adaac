//! The query kernel of the linker: answers, cycles, cuts and what each policy keeps.

use std::cell::Cell;

use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Cut, Plain, Step, Table, UnkeptEmptyMeanwhile, UnkeptStep};
use blocklint_link::linker::round::{First, Round, RoundOnly, RoundTable};
use blocklint_link::models::library::Library;

use blocklint_link::program::{Layout, Names, Program};
use blocklint_models::Models;

/// Gives a linker of an empty program to a test.
fn with_linker(test: impl FnOnce(&Linker<'_>)) {
    let (layout, names, models) = (Layout::default(), Names::default(), Models::builtin());
    let program = Program::new(&[], &layout, &names);
    test(&Linker::new(&program, Library::new(&models)));
}

/// Marks an answer that was cut by a cycle, and one that was cut by the budget.
fn mark(cut: Cut) -> u32 {
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
        assert_eq!([0; 3].map(|key| linker.query_or_cut(&steps, key, mark, compute)), [7; 3]);
        assert_eq!(computed.get(), 1);
        assert_eq!([0; 3].map(|key| linker.query_or_cut(&lists, key, mark, compute)), [7; 3]);
        assert_eq!(computed.get(), 2);
        linker.query_or_cut(&steps, 1, mark, compute);
        assert_eq!(computed.get(), 3, "each key has an answer of its own");
    });
}

/// Each key of a ring of four is at least what the next one is. Key 2 also asks for the key behind its own, so two circles meet.
fn ask_in_circles(linker: &Linker<'_>, table: &Table<u32, u32, Step>, key: u32, computed: &Cell<u32>) -> u32 {
    linker.query(
        table,
        key,
        || 0,
        || {
            computed.set(computed.get() + 1);
            let next = ask_in_circles(linker, table, (key + 1) % 4, computed);
            let back = if key == 2 { ask_in_circles(linker, table, 1, computed) } else { 0 };
            next.max(back).max([3, 9, 4, 5][key as usize])
        },
    )
}

#[test]
fn queries_that_ask_for_each_other_have_the_same_answers_from_each_start() {
    for start in 0..4 {
        with_linker(|linker| {
            let (table, computed) = (Table::default(), Cell::new(0));
            assert_eq!(ask_in_circles(linker, &table, start, &computed), 9);
            let rounds = computed.get();
            assert!(rounds <= 12, "{rounds}");
            assert_eq!([0, 1, 2, 3].map(|key| ask_in_circles(linker, &table, key, &computed)), [9; 4]);
            assert_eq!(computed.get(), rounds, "the answers of all are kept");
        });
    }
}

#[test]
fn an_answer_that_rests_on_a_running_query_is_provisional() {
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
fn answers_that_swing_end() {
    with_linker(|linker| {
        let table = Table::<u32, u32, Step>::default();
        let swing = || 1 - linker.query(&table, 0, || 0, || unreachable!("it runs"));
        let answer = linker.query(&table, 0, || 0, swing);
        assert_eq!(linker.query(&table, 0, || 5, || unreachable!("it is kept")), answer);
    });
}

#[test]
fn a_list_that_recurs_is_computed_once_more() {
    with_linker(|linker| {
        let (table, computed) = (Table::<u32, u32, Plain>::default(), Cell::new(0));
        let compute = || {
            computed.set(computed.get() + 1);
            linker.query_or_cut(&table, 0, mark, || 5) + 1
        };
        assert_eq!(linker.query_or_cut(&table, 0, mark, compute), 6);
        assert_eq!((computed.get(), linker.query_or_cut(&table, 0, mark, || 0)), (1, 6));
    });
}

#[test]
fn an_unkept_list_is_empty_meanwhile() {
    with_linker(|linker| {
        let unkept = Table::<u32, u32, UnkeptEmptyMeanwhile>::default();
        let ask = || {
            let again = || linker.query(&unkept, 0, || 0, || unreachable!("it runs")) + 1;
            linker.query(&unkept, 0, || 0, again)
        };
        assert_eq!((ask(), linker.query(&unkept, 0, || 0, || 9)), (1, 9));
    });
}

#[test]
fn an_unkept_step_notices_a_cycle_and_keeps_nothing() {
    with_linker(|linker| {
        let table = Table::<u32, u32, UnkeptStep>::default();
        let again = || linker.query_or_cut(&table, 0, mark, || unreachable!("it runs"));
        assert_eq!(linker.query_or_cut(&table, 0, mark, again), 100);
        assert_eq!(linker.query_or_cut(&table, 0, mark, || 3), 3);
    });
}

/// Each key asks for the next one.
fn ask_far(linker: &Linker<'_>, table: &Table<u32, u32, Step>, key: u32) -> u32 {
    linker.query_or_cut(table, key, mark, || ask_far(linker, table, key + 1))
}

#[test]
fn the_budget_ends_a_question_and_the_next_one_has_a_new_budget() {
    with_linker(|linker| {
        let table = Table::default();
        assert_eq!(ask_far(linker, &table, 0), 10_000);
        assert_eq!(linker.query_or_cut(&table, 0, mark, || 1), 10_000, "the outermost keeps its answer");
        assert_eq!(linker.query_or_cut(&table, 1, mark, || 1), 1, "those that waited do not");
    });
}

/// Asks round a circle within a round.
fn follow(round: &Round, table: &RoundTable<u32, u32, First>, key: u32, computed: &Cell<u32>) -> u32 {
    round.query(
        table,
        key,
        || 100,
        || {
            computed.set(computed.get() + 1);
            1 + follow(round, table, (key + 1) % 3, computed)
        },
    )
}

#[test]
fn what_is_found_on_the_way_is_good_for_the_question_that_is_asked_first() {
    let (round, table, computed) = (Round::default(), RoundTable::default(), Cell::new(0));
    assert_eq!(follow(&round, &table, 0, &computed), 103);
    assert_eq!((follow(&round, &table, 0, &computed), computed.get()), (103, 3));
    // 1 and 2 were found on the way to 0, and are looked for anew.
    assert_eq!((follow(&round, &table, 1, &computed), computed.get()), (105, 5));
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
fn a_round_is_not_deeper_than_it_may() {
    fn ask(round: &Round, table: &RoundTable<u32, u32, First>, key: u32) -> u32 {
        round.query(table, key, || 0, || 1 + ask(round, table, key + 1))
    }
    assert_eq!(ask(&Round::with_max_depth(5), &RoundTable::default(), 0), 5);
}
