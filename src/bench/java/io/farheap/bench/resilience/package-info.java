/**
 * Coded far memory beside copies and the other baselines of Hydra (FAST '22, section 7), in turns: latency, what it
 * costs, and what faults of servers do to it.
 */
@NullMarked
package io.farheap.bench.resilience;

import org.jspecify.annotations.NullMarked;
