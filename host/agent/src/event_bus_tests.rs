use super::{BEHIND, EventBus};
use crate::observers::Observers;
use capstan_ports::{ObserverPort, TurnEvent};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

// 003-157
#[tokio::test]
async fn every_subscriber_gets_every_event_and_one_that_goes_stops_none_of_the_others() {
    let bus = EventBus::default();
    let observers = Observers::default();
    observers.add(Arc::new(bus.clone()));
    let (mut first, leaver, mut last) = (bus.subscribe(), bus.subscribe(), bus.subscribe());
    observers.tell(|| TurnEvent::TurnStarted);
    observers.flush(Duration::from_secs(5)).await;
    drop(leaver);
    assert_eq!(bus.subscribers(), 2);
    observers.tell(|| TurnEvent::TurnCompleted);
    observers.flush(Duration::from_secs(5)).await;
    for receiver in [&mut first, &mut last] {
        assert_eq!(*receiver.recv().await.unwrap(), TurnEvent::TurnStarted);
        assert_eq!(*receiver.recv().await.unwrap(), TurnEvent::TurnCompleted);
    }
}

#[tokio::test]
async fn a_subscriber_that_does_not_read_misses_the_oldest_and_hears_how_many() {
    let bus = EventBus::default();
    let mut slow = bus.subscribe();
    for _ in 0..BEHIND + 3 {
        bus.on_event(&TurnEvent::TurnStarted).await;
    }
    assert_eq!(slow.recv().await, Err(RecvError::Lagged(3)));
    assert_eq!(*slow.recv().await.unwrap(), TurnEvent::TurnStarted);
}

#[tokio::test]
async fn without_subscribers_events_go_nowhere() {
    let bus = EventBus::default();
    drop(bus.subscribe());
    bus.on_event(&TurnEvent::TurnCompleted).await;
    assert_eq!(bus.subscribers(), 0);
}
