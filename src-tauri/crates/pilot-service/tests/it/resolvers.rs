//! Many resolvers of the same cards at once, through the whole service.

use crate::support::{Bench, say, write_step, yes};
use pilot_types::{ErrorCode, Event};

const RESOLVERS: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_resolvers_execute_each_card_once() {
    let cards = if std::env::var_os("POCKETPILOT_SOAK").is_some() { 1_000 } else { 100 };
    let bench = Bench::new().await;
    let mut executions = 0;
    let mut refused = 0;
    for n in 0..cards {
        let (task, card) = bench.to_card(vec![write_step(&format!("r{n}.md"), "x\n"), say("done")]).await;
        let tries: Vec<_> = (0..RESOLVERS)
            .map(|_| {
                let (service, card) = (bench.service.clone(), card.clone());
                tokio::spawn(async move { service.approve(yes(&card)).await })
            })
            .collect();
        let mut won = 0;
        for attempt in tries {
            match attempt.await.unwrap() {
                Ok(_) => won += 1,
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::ApprovalDecided, "whoever loses is told so");
                    refused += 1;
                }
            }
        }
        assert_eq!(won, 1, "exactly one resolver wins card {n}");
        executions += bench
            .events(&task)
            .await
            .iter()
            .filter(|event| matches!(event, Event::ExecutionFinished { .. }))
            .count();
        bench.service.run_to_stop(&task).await.unwrap();
    }
    assert_eq!(executions, cards, "as many executions as cards");
    assert_eq!(refused, cards * (RESOLVERS - 1), "everybody else was refused");
    println!("{RESOLVERS} resolvers, {cards} cards: {executions} executions, {refused} refusals");
}
