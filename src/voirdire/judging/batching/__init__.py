"""Batch APIs: the same cells at a lower price, answered within a day."""

from voirdire.judging.batching.batch_runner import refuse_while_under_way, run_batches

__all__ = ["refuse_while_under_way", "run_batches"]
