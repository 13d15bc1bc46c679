use super::*;
use crate::scripted_tests::*;
use crate::{AgentError, AgentSession};
use capstan_ports::message::Cost;
use capstan_ports::{ModelErrorKind, NoPrices};
use capstan_provider::{Answer, ScriptedModel};

const PRICE: Price = Price { input: 1e6, output: 2e6, cache_read: 0.0, cache_write: 0.0 };

/// Knows the price of the script.
struct Known(Price);

impl PriceTable for Known {
    fn price(&self, _: &ModelInfo) -> Option<Price> {
        Some(self.0)
    }
}

fn paid(session: &AgentSession) -> (u64, u64, u64, f64, u64) {
    let cost = session.cost_so_far();
    (cost.calls, cost.input_tokens, cost.output_tokens, cost.dollars, cost.unpriced_calls)
}

// 004-143
#[test]
fn tokens_and_prices_add_up() {
    let mut cost = CostTracker::default();
    cost.add(&usage(10, 5), Some(&PRICE));
    cost.add(&usage(1, 1), Some(&PRICE));
    assert_eq!((cost.calls, cost.dollars, cost.total_tokens(), cost.unpriced_calls), (2, 23.0, 17, 0));
    cost.add(&usage(1, 0), Some(&Price::default()));
    cost.add(&usage(1, 0), None);
    assert_eq!((cost.dollars, cost.input_tokens, cost.unpriced_calls), (23.0, 13, 1));
    let told = Usage { cost: Cost { total: 0.5, ..Cost::default() }, ..usage(1, 1) };
    cost.add(&told, Some(&PRICE));
    cost.add(&told, None);
    assert_eq!((cost.dollars, cost.unpriced_calls), (24.0, 1), "the provider's own word counts");
    let cached = Usage { cache_read: 3, cache_write: 4, ..usage(u64::MAX, 0) };
    cost.add(&cached, None);
    assert_eq!((cost.cache_read_tokens, cost.cache_write_tokens, cost.input_tokens), (3, 4, u64::MAX));
}

// 004-047
#[tokio::test]
async fn every_call_of_a_turn_is_counted() {
    let model = ScriptedModel::new([call("add"), text("done"), text("again")]);
    let mut session = session(builder(&model, &Arc::default()).prices(Arc::new(Known(PRICE))));
    assert_eq!(paid(&session), (0, 0, 0, 0.0, 0));
    session.submit_turn("hi").await.unwrap();
    assert_eq!(paid(&session), (2, 20, 10, 40.0, 0));
    session.submit_turn("hi").await.unwrap();
    assert_eq!(paid(&session), (3, 30, 15, 60.0, 0));
}

// 004-048
#[tokio::test]
async fn what_a_failed_turn_paid_is_counted() {
    let model =
        ScriptedModel::new([call("add"), Answer::error(ModelErrorKind::Auth, "no key"), text("fine")]);
    let mut session = session(builder(&model, &Arc::default()).prices(Arc::new(NoPrices)));
    assert!(matches!(session.submit_turn("hi").await, Err(AgentError::Llm(_))));
    assert_eq!(paid(&session), (1, 10, 5, 0.0, 1));
    session.submit_turn("hi").await.unwrap();
    assert_eq!((paid(&session), session.turn_index()), ((2, 20, 10, 0.0, 2), 1));
}
