/**
 * The client's end of a pair of message rings: requests are added to an {@code OpenBatch}, the {@code RingWriter} sends
 * it, the {@code AnswerReader} takes its answer, and the {@code BatchWindow} counts which batches are sent, answered
 * and finished. Begin with {@link io.farheap.rpc.batch.BatchConnection}.
 */
@NullMarked
package io.farheap.rpc.batch;

import org.jspecify.annotations.NullMarked;
