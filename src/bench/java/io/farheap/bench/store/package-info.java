/**
 * Measures what a store's durability costs and survives, beside the bare device: appends by commit point, checkpoints
 * beside a load, recovery, a memory server that is killed. The speed of reads is measured by
 * {@link io.farheap.bench.ycsb}.
 */
@NullMarked
package io.farheap.bench.store;

import org.jspecify.annotations.NullMarked;
