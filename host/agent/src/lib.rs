//! The agent loop: rounds, tools, hooks, queues.
